/** The examples for Argo CD, Flux and External Secrets: values that the chart takes, names that it reads, and a health script that runs. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'
import { parse } from 'yaml'

import { kubeTools } from '../../fixtures/engines/kube.ts'
import { hasRedisServer, startRedis, type RedisServer } from '../../fixtures/engines/redis.ts'
import { ROOT } from '../tidy/source-files.ts'
import { CHART, manifestsOf, runHelm, type KubeManifest } from './support/render.ts'

/** The first use of helm on a machine builds it. */
const BUILD_MS = 1_300_000
const example = (name: string) => manifestsOf(readFileSync(join(ROOT, 'examples/gitops', name), 'utf8'))

describe('the examples for GitOps', function () {
  this.timeout(60_000)

  describe('have a health script for Argo CD', () => {
    let redis: RedisServer
    let script = ''

    before(async function () {
      if (!hasRedisServer()) return this.skip()
      redis = await startRedis()
      const [map] = example('argocd-cm.yaml')
      const customizations = parse(map?.['data']['resource.customizations']) as Readonly<Record<string, Readonly<Record<string, string>>>>
      expect(Object.keys(customizations)).to.deep.equal(['whence.dev/*'])
      script = customizations['whence.dev/*']?.['health.lua'] ?? ''
      return undefined
    })
    after(() => redis?.stop())

    /** Redis runs Lua 5.1, as Argo CD does; there the object is called `obj`, too. */
    const healthOf = (object: object): Readonly<Record<string, string>> => {
      const program = `local function health(obj) ${script}\nend\nreturn cjson.encode(health(cjson.decode(ARGV[1])))`
      const answer = redis.cli('--raw', 'EVAL', program, '0', JSON.stringify(object))
      return JSON.parse(answer) as Readonly<Record<string, string>>
    }
    const website = (generation: number, conditions: readonly (readonly [string, string, string])[], observedGeneration = 1) => ({
      metadata: { generation },
      status: {
        observedGeneration,
        conditions: conditions.map(([type, status, reason]) => ({ type, status, reason, message: `words of ${type}` })),
      },
    })

    it('that distinguishes what is in force from what is refused', () => {
      expect(healthOf(website(1, [['Accepted', 'True', 'Accepted'], ['Ready', 'True', 'Ready']]))).to.deep.equal({
        status: 'Healthy',
        message: 'words of Ready',
      })
      const refused = healthOf(website(1, [['Ready', 'False', 'RefNotFound'], ['Stalled', 'True', 'RefNotFound']]))
      expect(refused).to.deep.equal({ status: 'Degraded', message: 'words of Ready' })
    })

    it('that waits for what is under way', () => {
      const waiting = [
        { metadata: { generation: 1 } },
        { metadata: { generation: 1 }, status: {} },
        website(2, [['Ready', 'True', 'Ready']], 1),
        website(1, [['Ready', 'False', 'CatalogNotPublished'], ['Reconciling', 'True', 'CatalogNotPublished']]),
        website(1, [['Accepted', 'True', 'Accepted']]),
        website(1, [['Ready', 'Unknown', 'Unknown']]),
      ]
      for (const object of waiting) expect(healthOf(object)['status'], JSON.stringify(object)).to.equal('Progressing')
    })
  })

  describe('have values', () => {
    let helm = ''
    let folder = ''
    before(async function () {
      this.timeout(BUILD_MS)
      const tools = await kubeTools()
      if (tools === null) return this.skip()
      helm = tools.helm
      folder = await mkdtemp(join(tmpdir(), 'whence-gitops-'))
      return undefined
    })
    after(() => rm(folder, { recursive: true, force: true }))

    const valuesOf = (): readonly (readonly [string, KubeManifest])[] => [
      ['flux', example('flux.yaml').find(({ kind }) => kind === 'HelmRelease')?.['spec'].values],
      ['argocd', example('argocd-application.yaml')[0]?.['spec'].source.helm.valuesObject],
    ]

    it('that the chart takes', async () => {
      for (const [name, values] of valuesOf()) {
        await writeFile(join(folder, name), JSON.stringify(values))
        const { stdout } = await runHelm(helm, ['lint', '--strict', CHART, '-f', join(folder, name)])
        expect(stdout, name).to.contain('0 chart(s) failed')
      }
    })

    it('whose Secrets are those that External Secrets makes, key by key', () => {
      const made = new Map(
        example('external-secrets.yaml').map(({ spec }) => [spec.target.name, spec.data.map(({ secretKey }: KubeManifest) => secretKey)]),
      )
      for (const [, values] of valuesOf())
        for (const name of ['secret', 'eventLog', 'hotState', 'facts']) {
          const { existingSecret, key = 'secret' } = values[name]
          expect(made.get(existingSecret), name).to.include(key)
        }
    })
  })
})
