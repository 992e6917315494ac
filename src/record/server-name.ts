/** Names a server after the command that starts it: `npx -y @acme/linear-mcp` is `linear-mcp`. */
export function serverName(command: readonly string[]): string {
  const [first = '', ...rest] = command
  const runner = bareName(first)
  if (runner === 'env') return serverName(rest.slice(rest.findIndex((word) => !/^-|=/.test(word))))
  const word = RUNNERS.test(runner) ? firstOperand(rest) : undefined
  return safeName(bareName(word ?? first))
}

/** Names a server after its URL: `https://mcp.acme.dev/mcp` is `mcp.acme.dev`. */
export function serverNameFromUrl({ host }: URL): string {
  return host.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replaceAll(/^[.-]+|-+$/g, '')
}

/** Makes a text safe to be part of a file name. */
export function safeName(text: string): string {
  const safe = text.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[.-]+/, '')
  return safe.slice(0, 60) || 'server'
}

const RUNNERS =
  /^(node|nodejs|npx|npm|pnpm|pnpx|yarn|bun|bunx|deno|tsx|python[\d.]*|uv|uvx|pipx|docker|podman)$/
const SUBCOMMANDS = new Set(['run', 'exec', 'dlx', 'x', 'container'])
// The word after these is a value, which may be a secret and must not become part of a file name.
const OPTION_WITH_VALUE =
  /^(-[epvuwhlr]|--(env|env-file|package|volume|publish|name|workdir|network|mount|user|hostname|entrypoint|label|platform|pull|from|with|require|import|loader|env-file-if-exists))$/

/** The script, package or image that a runner was asked to run. */
function firstOperand(words: readonly string[]): string | undefined {
  return words.find((word, index) => {
    const isOption = word.startsWith('-') || word.includes('=')
    return !isOption && !SUBCOMMANDS.has(word) && !OPTION_WITH_VALUE.test(words[index - 1] ?? '')
  })
}

/** The last part of a path that is not generic, without file extension, package scope, version or image tag. */
function bareName(word: string): string {
  const parts = word
    .replaceAll('\\', '/')
    .split('/')
    .filter((part) => part !== '')
    .map((part) => part.replace(/(?<=.)[@:][^@:]*$/, '').replace(/\.(exe|cmd|[cm]?[jt]s|py|sh)$/i, ''))
  const last = parts.at(-1) ?? ''
  return GENERIC_NAME.test(last) ? (parts.findLast((part) => !GENERIC_NAME.test(part)) ?? last) : last
}

const GENERIC_NAME = /^(index|main|__main__|cli|dist|build|out|lib|src|bin|\.|\.\.)$/
