/** The bundler puts style sheets into a file of their own; importing one gives nothing. */
declare module '*.css'
