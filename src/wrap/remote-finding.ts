import type { BridgedServer } from './bridged-server.ts'
import type { RemoteServerState } from './doctor/check-remote.ts'
import type { DoctorFinding } from './doctor/local-checks.ts'

/** What is wrong with the server behind a bridge, if anything is. */
export function findingForState(
  state: RemoteServerState,
  { where, headers, hasUnknownHeaders }: BridgedServer,
  server: string,
): DoctorFinding | undefined {
  const found = (kind: DoctorFinding['kind'], about: string, hint: string): DoctorFinding => ({
    kind,
    about: `${where} ${about}`,
    hint,
  })
  switch (state.kind) {
    case 'answers':
    case 'not-asked':
      return undefined
    case 'wants-login':
      if (hasUnknownHeaders) return undefined // what the client knows may well let it in
      return headers.length === 0
        ? found('server-wants-login', `wants you to log in (${state.status})`, loginHint(server))
        : found('server-wants-login', `refuses what the headers hold (${state.status})`, EXPIRED_HINT)
    case 'fails':
      return found('server-fails', `fails (${state.status})`, RETRY_HINT)
    case 'moved':
      return found('server-moved', `sends its clients elsewhere (${state.status})`, movedHint(server))
    case 'refused':
      return found('server-unreachable', 'refuses the connection', NOT_RUNNING_HINT)
    case 'timeout':
      return found('server-unreachable', `does not answer within ${state.seconds} s`, RETRY_HINT)
    case 'unreachable':
      return found('server-unreachable', `cannot be reached: ${state.why}`, NETWORK_HINT)
  }
}

export function missingVariableFinding(name: string, server: string): DoctorFinding {
  return {
    kind: 'variable-missing',
    about: `its recorder needs the variable ${name}, which its env does not hold`,
    hint: `the server cannot start like this; reelay unwrap ${server}, see what is missing, and wrap it again`,
  }
}

function loginHint(server: string): string {
  return `nobody can log in through a bridge: reelay unwrap ${server}, and record the client with reelay record --forward`
}

function movedHint(server: string): string {
  return `nothing is sent there: reelay unwrap ${server}, put the new url into the config, and wrap it again`
}

const EXPIRED_HINT = 'a token may have expired: put a new one where it stands in the config'
const NOT_RUNNING_HINT =
  'nothing listens there: start the server, or see whether the port in the url is still right'
const RETRY_HINT = 'the recorder is well; see whether the server is, and try again'
const NETWORK_HINT = 'see whether this machine can reach it: its name, the network, its certificate'
