// A client that costs little, so that the server is what is measured: 64 connections on node:net, one call at a time on each.
import { connect } from 'node:net'
import { callText, INITIALIZE, INITIALIZED } from './calls.mjs'

/** Calls a second, and the 99th percentile of the milliseconds that a call took. */
export async function callOverHttp(url, calls) {
  const { hostname, port, pathname } = new URL(url)
  const session = await openSession(url)
  const head = `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n${session}Content-Length: `
  let next = 0
  const took = []
  const began = performance.now()
  const take = () => (next < calls ? request(head, callText(next, next++)) : undefined)
  await Promise.all(Array.from({ length: 64 }, () => talk({ hostname, port }, take, took)))
  const rate = (calls / (performance.now() - began)) * 1000
  return { rate, p99: took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)] }
}

function request(head, body) {
  return `${head}${body.length}\r\n\r\n${body}`
}

async function openSession(url) {
  const post = (body, more = {}) =>
    fetch(url, {
      method: 'POST',
      body,
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...more,
      },
    })
  const id = (await post(INITIALIZE)).headers.get('mcp-session-id')
  const session = id === null ? {} : { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
  await post(INITIALIZED, session)
  return Object.entries(session)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
}

function talk({ hostname, port }, take, took) {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let [heard, asked] = ['', 0]
    const go = () => {
      const text = take()
      asked = performance.now()
      if (text === undefined) socket.end()
      else socket.write(text)
    }
    socket.setNoDelay(true)
    socket.setEncoding('latin1')
    socket.on('connect', go)
    socket.on('data', (chunk) => {
      heard += chunk
      if (!isWhole(heard)) return
      if (!heard.includes('"result"')) reject(new Error(`not answered: ${heard.slice(0, 400)}`))
      heard = ''
      took.push(performance.now() - asked)
      go()
    })
    socket.on('error', reject)
    socket.on('close', resolve)
  })
}

function isWhole(text) {
  const end = text.indexOf('\r\n\r\n')
  const length = /\r\ncontent-length: (\d+)/i.exec(text)
  if (end >= 0 && length) return text.length >= end + 4 + Number(length[1])
  return end >= 0 && text.endsWith('0\r\n\r\n')
}
