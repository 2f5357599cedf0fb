/** The service's name as people read it, from its setting: the document says it. */

export const BRAND = document.querySelector<HTMLMetaElement>('meta[name="application-name"]')?.content ?? 'Whence'
