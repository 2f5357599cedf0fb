/** Directory of the embedded program: the objects that the catalog in force was compiled from. */

import type { FolderCatalog } from '../../runtime/catalog/source.ts'
import { websitesOf, type Directory } from './directory.ts'

export function folderDirectory(catalog: FolderCatalog): Directory {
  return {
    organizations: () => catalog.current().organizations,
    websites: (organization) => websitesOf(catalog.current(), organization),
    members: catalog.members,
    passes: catalog.passes,
    rightsAge: () => 'current',
    catalogNumber: () => catalog.current().number,
    // A catalog has read its folder.
    synced: Promise.resolve(),
  }
}
