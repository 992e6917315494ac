import { omitIgnored } from '../request-key.ts'
import { methodAndParams } from './method-and-params.ts'
import type { Strategy } from './strategy.ts'

export const exact: Strategy = {
  ...methodAndParams,
  name: 'exact',
  about: 'the whole request except its id, including all of _meta and the params of the handshake',
  paramsOf: ({ params }, ignore) => (ignore.length === 0 ? params : omitIgnored(params, ignore)),
}
