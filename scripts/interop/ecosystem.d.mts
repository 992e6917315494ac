export function installPythonSdk(): string
