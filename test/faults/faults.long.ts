/** The service as many processes on real engines, and everything that can happen to it; one set of engines for all. */

import { placeIn, startEngines, type Engines } from '../../fixtures/engines/engines.ts'
import { kafkaJars } from '../../fixtures/engines/kafka.ts'
import { hasRedisServer } from '../../fixtures/engines/redis.ts'
import { startLinks, toxiproxyProgram, type Links } from '../../fixtures/engines/toxiproxy.ts'
import { breakingPartsUnderLoad } from './breaking.suite.ts'
import { stoppingHalfWay } from './halfway.suite.ts'
import { losingRedis } from './losing-redis.suite.ts'
import { manyPods } from './pods.suite.ts'
import { refillingRedis } from './refilling.suite.ts'
import { replayingTheLog } from './replaying.suite.ts'
import { stoppingWhileOthersHang } from './stopping.suite.ts'
import { streamingThroughKills } from './streaming.suite.ts'
import { webhooksThroughKills } from './webhooks.suite.ts'

describe('faults of the distributed service', function () {
  this.timeout(180_000)
  let engines: Engines
  let links: Links
  let places = 0

  before(async function () {
    const jars = await kafkaJars()
    const program = await toxiproxyProgram()
    if (jars === null || program === null || !hasRedisServer()) return this.skip()
    links = await startLinks(program)
    engines = await startEngines({ jars, links })
  })
  after(async () => {
    await engines?.stop()
    await links?.stop()
  })

  /** Topics, a database and a Redis database that nothing before has touched. */
  const place = (): Promise<Engines> => placeIn(engines, (places += 1))
  const parts = { links: () => links, place }
  breakingPartsUnderLoad(parts)
  stoppingWhileOthersHang(parts)
  stoppingHalfWay(parts)
  losingRedis(parts)
  replayingTheLog(parts, refillingRedis)
  manyPods(parts)
  streamingThroughKills(parts)
  webhooksThroughKills(parts)
})
