import { defineConfig } from 'rolldown'

export default defineConfig({
  input: 'dist/cli/main.js',
  platform: 'node',
  external: ['@peculiar/x509', 'commander', 'cross-spawn'],
  output: { dir: 'dist/packed', format: 'cjs', chunkFileNames: '[name].js' },
})
