import { expect, test } from 'vitest'
import { proxyEnvironment } from './proxy-environment.ts'

const proxy = 'http://127.0.0.1:1'

test.each([
  ['localhost', ''],
  ['*', ''],
  ['localhost,127.0.0.1, ::1,[::1]:80,.localhost,127.0.0.0/8,a.test:80', 'a.test:80'],
  ['a.test b.test', 'a.test,b.test'],
])('NO_PROXY=%s no longer leaves out this machine', (before, after) => {
  const env = { NO_PROXY: before, no_proxy: before }
  expect(proxyEnvironment({ env, proxy, trust: undefined })).toMatchObject({
    NO_PROXY: after,
    no_proxy: after,
  })
})

test('certificates that the user chose stay trusted beside the CA', () => {
  const trust = { extra: '/extra', instead: (before = 'the default') => `the CA and ${before}` }
  const env = { SSL_CERT_FILE: '/mine', CURL_CA_BUNDLE: '/of-curl' }
  expect(proxyEnvironment({ env, proxy, trust })).toEqual({
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NODE_USE_ENV_PROXY: '1',
    NODE_EXTRA_CA_CERTS: '/extra',
    SSL_CERT_FILE: 'the CA and /mine',
    CURL_CA_BUNDLE: 'the CA and /of-curl',
    REQUESTS_CA_BUNDLE: 'the CA and the default',
  })
})
