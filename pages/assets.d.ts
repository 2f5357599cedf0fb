/** The bundler writes style sheets into a separate file; importing one yields nothing. */
declare module '*.css'
