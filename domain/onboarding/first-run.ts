/** Code by which a program reports its first run, as `docs/hook-recipes.md` prints it: once for each user, in the background, never in the way. */

/** In which a program is written. */
export type ProgramLanguage = 'node' | 'python' | 'go' | 'rust'

export const LANGUAGE_TITLES: Readonly<Record<ProgramLanguage, string>> = {
  node: 'JavaScript',
  python: 'Python',
  go: 'Go',
  rust: 'Rust',
}

interface FirstRun {
  /** That a shell runs. Neither quotes nor backslashes. */
  readonly command: string
  /** Name of the folder, below the user's state, with the file that says that it was done. */
  readonly folder: string
}

export function firstRunCode(language: ProgramLanguage, firstRun: FirstRun): string {
  return CODE[language](firstRun)
}

const CODE: Readonly<Record<ProgramLanguage, (firstRun: FirstRun) => string>> = {
  node: ({ command, folder }) => `const { spawn } = require('node:child_process')
const { mkdirSync, writeFileSync } = require('node:fs')
const { homedir } = require('node:os')
const { join } = require('node:path')

const COMMAND =
  '${command}'

function reportFirstRun() {
  try {
    const folder = join(homedir(), '.local', 'state', '${folder}')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'first-run'), '', { flag: 'wx' }) // Fails if it is there.
    const child = spawn('sh', ['-c', COMMAND], { detached: true, stdio: 'ignore' })
    child.on('error', () => {}) // There is no sh.
    child.unref()
  } catch {
    // Reported before, or the home folder cannot be written.
  }
}

reportFirstRun()`,
  python: ({ command, folder }) => `import pathlib
import subprocess

COMMAND = "${command}"


def report_first_run():
    nothing = subprocess.DEVNULL
    try:
        folder = pathlib.Path.home() / ".local" / "state" / "${folder}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "first-run").touch(exist_ok=False)  # Fails if it is there.
        subprocess.Popen(["sh", "-c", COMMAND], stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
    except (OSError, RuntimeError):
        pass  # Reported before, or the home folder cannot be written.


report_first_run()`,
  go: ({ command, folder }) => `package main

import (
	"os"
	"os/exec"
	"path/filepath"
)

const command = "${command}"

func reportFirstRun() {
	home, err := os.UserHomeDir()
	if err != nil {
		return
	}
	folder := filepath.Join(home, ".local", "state", "${folder}")
	if os.MkdirAll(folder, 0o755) != nil {
		return
	}
	done, err := os.OpenFile(filepath.Join(folder, "first-run"), os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return // Reported before, or the home folder cannot be written.
	}
	done.Close()
	// Nobody waits for it; without files of its own it reads and writes /dev/null.
	_ = exec.Command("sh", "-c", command).Start()
}

func main() {
	reportFirstRun()
}`,
  rust: ({ command, folder }) => `use std::fs::{create_dir_all, OpenOptions};
use std::path::Path;
use std::process::{Command, Stdio};

const COMMAND: &str = "${command}";

fn report_first_run() -> Option<()> {
    let home = std::env::var_os("HOME")?;
    let folder = Path::new(&home).join(".local/state/${folder}");
    create_dir_all(&folder).ok()?;
    // Fails if it is there.
    OpenOptions::new().write(true).create_new(true).open(folder.join("first-run")).ok()?;
    Command::new("sh")
        .args(["-c", COMMAND])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    Some(())
}

fn main() {
    report_first_run();
}`,
}
