/** Constants that the build writes into the bundles. */

/** True in the bundle that explains itself on the console. Code that depends on it is removed from the others. */
declare const DEBUG: boolean
