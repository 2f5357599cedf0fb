-- Installs by the time of their arrival with every column that lists filter by. Before, a filter read all installs that there are.

ALTER TABLE installs {{onCluster}} ADD PROJECTION IF NOT EXISTS by_arrival
(
    SELECT organization, website, received_at, event_id, installation_id, event_type, install_path, platform, agent, resolution, selection_policy,
        reason, visit_id
    ORDER BY organization, website, received_at
);

ALTER TABLE installs {{onCluster}} MATERIALIZE PROJECTION by_arrival;

-- It has every column of this one, and the same order.
ALTER TABLE installs {{onCluster}} DROP PROJECTION IF EXISTS by_time;
