import type { BridgedServer } from './bridged-server.ts'
import type { RemoteState } from './check-remote.ts'
import type { Finding } from './finding.ts'

/** What is wrong with the server behind a bridge, if anything is. */
export function remoteFinding(
  state: RemoteState,
  { where, headers, isPartlyKnown }: BridgedServer,
  server: string,
): Finding | undefined {
  const found = (kind: Finding['kind'], about: string, hint: string): Finding => ({
    kind,
    about: `${where} ${about}`,
    hint,
  })
  switch (state.kind) {
    case 'answers':
    case 'not-asked':
      return undefined
    case 'wants-login':
      if (isPartlyKnown) return undefined // what the client knows may well let it in
      return headers.length === 0
        ? found('server-wants-login', `wants you to log in (${state.status})`, noLogin(server))
        : found('server-wants-login', `refuses what the headers hold (${state.status})`, EXPIRED)
    case 'fails':
      return found('server-fails', `fails (${state.status})`, LATER)
    case 'moved':
      return found('server-moved', `sends its clients elsewhere (${state.status})`, newUrl(server))
    case 'refused':
      return found('server-unreachable', 'refuses the connection', NOT_RUNNING)
    case 'timeout':
      return found('server-unreachable', `does not answer within ${state.seconds} s`, LATER)
    case 'unreachable':
      return found('server-unreachable', `cannot be reached: ${state.why}`, NETWORK)
  }
}

export function missingVariable(name: string, server: string): Finding {
  return {
    kind: 'variable-missing',
    about: `its recorder needs the variable ${name}, which its env does not hold`,
    hint: `the server cannot start like this; reelay unwrap ${server}, see what is missing, and wrap it again`,
  }
}

function noLogin(server: string): string {
  return `nobody can log in through a bridge: reelay unwrap ${server}, and record the client with reelay record --forward`
}

function newUrl(server: string): string {
  return `nothing is sent there: reelay unwrap ${server}, put the new url into the config, and wrap it again`
}

const EXPIRED = 'a token may have expired: put a new one where it stands in the config'
const NOT_RUNNING =
  'nothing listens there: start the server, or see whether the port in the url is still right'
const LATER = 'the recorder is well; see whether the server is, and try again'
const NETWORK = 'see whether this machine can reach it: its name, the network, its certificate'
