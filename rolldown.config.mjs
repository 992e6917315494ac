import { defineConfig } from 'rolldown'

export default defineConfig({
  input: 'dist/cli/main.js',
  platform: 'node',
  external: ['commander', 'cross-spawn', 'jsonc-parser'],
  output: { dir: 'dist/packed', format: 'cjs', chunkFileNames: '[name].js' },
})
