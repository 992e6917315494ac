import { HANDSHAKE_METHODS } from '../protocol/methods.ts'

/** How often a client opens or probes a connection, or asks how a task is doing, is its own affair, not part of the session's content. */
export function isUncountedMethod(method: string): boolean {
  return isConnectionMethod(method) || isTaskPoll(method)
}

/** Whether a method is about the connection alone. */
export function isConnectionMethod(method: string): boolean {
  return HANDSHAKE_METHODS.has(method) || method === 'ping'
}

/** Whether it asks for the state of a task, which changes nothing. */
export function isTaskPoll(method: string): boolean {
  return method === 'tasks/get'
}
