/** The ceiling for comparisons: node:http that reads a body, parses it as JSON and answers 200. */

import { createServer } from 'node:http'

const server = createServer((req, res) => {
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString('utf8'))
    const text = '{"ok":true}'
    res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length })
    res.end(text)
  })
})
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'))
