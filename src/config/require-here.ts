/**
 * Loads a module at once, as if from here: a recorder that has started its server cannot wait for an import. Without a config
 * nothing is loaded, not even Node's own loader of modules.
 */
export function requireSync(name: string): unknown {
  return process.getBuiltinModule('node:module').createRequire(import.meta.url)(name)
}
