/** Fields that the dashboard made with an object are its own when it changes them later. */

import { expect } from 'chai'

import { adopted, DASHBOARD_MANAGER, type ManagedEntry } from '../../domain/resources/field-owners.ts'

const WHEN = { mayTakeOver: false, apiVersion: 'whence.dev/v1alpha1', now: '2026-11-22T12:00:00Z' }
const SIGNATURE = { 'f:annotations': { '.': {}, 'f:whence.dev/changed-by': {} } }

const entryOf = (more: Partial<ManagedEntry>): ManagedEntry => ({
  manager: DASHBOARD_MANAGER,
  operation: 'Update',
  apiVersion: 'whence.dev/v1alpha1',
  fieldsType: 'FieldsV1',
  ...more,
})

describe('the fields of an object that the dashboard made', () => {
  it('are taken over with the proof of who made it, and without the labels', () => {
    const labels = { 'f:labels': { 'f:whence.dev/tenant': {} } }
    const made = entryOf({ fieldsV1: { 'f:metadata': { ...SIGNATURE, ...labels }, 'f:spec': { 'f:role': {} } } })
    const [applied, rest] = adopted([made], WHEN) ?? []
    expect(applied).to.deep.include({ manager: DASHBOARD_MANAGER, operation: 'Apply' })
    expect(applied?.fieldsV1).to.deep.equal({
      'f:metadata': { 'f:annotations': { 'f:whence.dev/changed-by': {} } },
      'f:spec': { 'f:role': {} },
    })
    expect(rest?.fieldsV1).to.deep.equal({ 'f:metadata': labels })
  })

  it('leave no entry of their creator if nothing else belonged to it', () => {
    const made = entryOf({ fieldsV1: { 'f:metadata': SIGNATURE, 'f:spec': { 'f:role': {} } } })
    expect(adopted([made], WHEN)).to.have.lengthOf(1)
  })

  it('are taken over if the proof alone was left behind', () => {
    const own = entryOf({ operation: 'Apply', fieldsV1: { 'f:spec': { 'f:role': {} } } })
    const left = entryOf({ fieldsV1: { 'f:metadata': SIGNATURE } })
    expect(adopted([own, left], WHEN)?.map(({ fieldsV1 }) => fieldsV1)).to.deep.equal([
      { 'f:metadata': { 'f:annotations': { 'f:whence.dev/changed-by': {} } }, 'f:spec': { 'f:role': {} } },
    ])
    expect(adopted([own], WHEN)).to.equal(null)
  })

  it("are not those of others, nor is another's annotation", () => {
    const other = entryOf({ manager: 'argocd', fieldsV1: { 'f:metadata': SIGNATURE, 'f:spec': { 'f:role': {} } } })
    expect(adopted([other], WHEN)).to.equal(null)
    const byHand = entryOf({
      manager: 'kubectl-edit',
      fieldsV1: { 'f:metadata': SIGNATURE, 'f:spec': { 'f:plan': {} } },
    })
    const [applied, rest] = adopted([byHand], { ...WHEN, mayTakeOver: true }) ?? []
    expect(applied?.fieldsV1).to.deep.equal({ 'f:spec': { 'f:plan': {} } })
    expect(rest?.fieldsV1).to.deep.equal({ 'f:metadata': SIGNATURE })
  })
})
