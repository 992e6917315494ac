export function installPython(): void
export const python: string
export const pythonPrograms: string
