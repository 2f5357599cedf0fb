/** Ends this process, and whatever its tests have started, if the runner is gone. It leads a group of its own. */

if (process.channel !== undefined) {
  process.channel?.unref()
  process.once('disconnect', () => process.kill(-process.pid, 'SIGKILL'))
}
