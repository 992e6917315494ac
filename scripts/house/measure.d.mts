export interface SourceFigures {
  readonly files: number
  readonly lines: number
  readonly medianLines: number
  readonly longestFile: number
  readonly smallFilesPercent: number
  readonly importEdges: number
  readonly importsPer1000Lines: number
  readonly largeFolders: readonly string[]
  readonly namesDefinedTwice: readonly string[]
  readonly typeCycles: readonly string[]
  readonly loadCycles: readonly string[]
}
export function measureSource(folder: string): SourceFigures
export function measureFlows(root: string, verbose?: boolean): Record<string, number>
