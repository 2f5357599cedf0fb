#!/bin/sh
# whence-hook: the part of an installer that reports to a service "this program was just installed", so that its makers learn
# which visit of their website the install came from. It is meant to be read: nothing in it is packed or hidden.
#
#   sh report.sh install_completed [option ...]        (--help shows them)
#
# WHAT IT READS
#   1. With a handoff token (from the copied install command): nothing below the home folder but its own two files.
#   2. Without one, also files that websites stored in a browser (their "origin private file system"). It opens only those of
#      1,021 bytes, then those of 200 to 1,020, at most 20,000 of them in at most 4 seconds, and takes from them only what
#      begins as a marker of this website. In Firefox it goes only into the folders of this website. It follows no symbolic
#      link there, opens no cookies, passwords, history or settings, and leaves Safari alone.
#   3. The kind of system and processor, time zone, language, which coding agent runs it if one says so, and whether it runs
#      in CI or in a container.
#
# WHAT IT SENDS: at most one request, to the service named in whence_base_url. "--print" shows it and sends nothing, "--explain"
# says on standard error what was done and why, and a copy of the last request is kept in
#   ~/.local/state/whence/<website>/                        (or below XDG_STATE_HOME)
#   ~/Library/Application Support/whence/<website>/         (macOS)
#
# HOW TO REFUSE: DO_NOT_TRACK=1, WHENCE_DISABLED=1 or a file /etc/whence/disabled. Then it neither looks nor sends.
#
# WHAT IT PROMISES ITS CALLER: exit status 0, nothing on standard output (but "--print"), nothing taken from standard input, at
# most 9.5 seconds, and no variable, function, trap, option or file left behind in the caller, even if it is sourced.
#
# The service writes these settings before this text, and nothing else:
#   whence_website   the website's ID            whence_base_url   the service's address
#   whence_path      an install path's ID or ''  whence_origins    the website's origins, separated by spaces
#   whence_scan      Notice (one line on the terminal), Silent or Disabled
#
# It runs in dash, bash, busybox sh, ksh93, mksh, zsh and the sh of macOS. Hence no "local", no arrays, no "[[", no here
# documents (some shells put them into files), and "echo" only for text that holds no backslash and begins with no dash.
#
# All of it stands between one pair of braces that the last character closes. A download that was cut short is therefore a
# syntax error, of which a shell runs nothing. (Without the braces a cut name would be run as a command: "w" is one. And this is
# also why no newline ends the last line.) Inside, everything is one function whose body is a subshell.

{
whence_hook() (
  whence_version=1.0.0
  whence_newline='
'

  # ---- The order of work --------------------------------------------------------------------------------------------------

  whence_main() {
    whence_prepare_shell
    whence_read_arguments "$@" || return 0
    whence_check_settings || return 0
    whence_may_report || return 0
    if [ "$whence_prints" = yes ]; then
      whence_report_in_time
    else
      whence_report_in_time >/dev/null
    fi
  }

  # Each step below has its own limit; this one is for all of them together, and for a machine on which even starting a program
  # takes long. As in whence_within, the work ends the alarm or the alarm ends the work.
  whence_report_in_time() {
    whence_worker=''
    whence_temporary=''
    trap 'whence_end_worker; whence_remove_temporary; exit 0' HUP INT TERM
    sleep 9 >/dev/null 2>&1 3>&- &
    whence_alarm=$!
    # wget needs a folder for the request. It is made and removed here, where no limit of time ends the shell.
    if [ "$whence_prints" = no ] && ! command -v curl >/dev/null; then whence_temporary=$(mktemp -d); fi
    whence_report_and_end_alarm &
    whence_worker=$!
    if wait "$whence_alarm"; then whence_end_worker; fi
    wait "$whence_worker"
    whence_remove_temporary
  }

  whence_remove_temporary() {
    if [ -n "$whence_temporary" ]; then rm -rf "$whence_temporary"; fi
  }

  whence_report_and_end_alarm() {
    trap 'exit 0' USR1 # Dying from it would make ksh93 print a message.
    whence_report
    kill -KILL "$whence_alarm"
  }

  # Ends all that the work started, then the work itself. Without ps only the work ends at once, and its programs by
  # themselves. Process numbers grow, so ps prints parents before their children.
  whence_end_worker() {
    if [ -z "$whence_worker" ]; then return 0; fi
    whence_family=" $whence_worker "
    whence_children=$whence_alarm
    whence_parent=''
    IFS=" $whence_newline"
    for whence_number in $(ps -A -o ppid= -o pid=); do
      if [ -z "$whence_parent" ]; then whence_parent=$whence_number; continue; fi
      case $whence_family in
        *" $whence_parent "*)
          whence_family="$whence_family$whence_number "
          whence_children="$whence_children $whence_number"
          ;;
      esac
      whence_parent=''
    done
    # shellcheck disable=SC2086 # One argument for each process.
    kill -KILL $whence_children
    IFS=$whence_newline
    # No caller blocks USR1, but it takes effect only when what the work waits for has ended. ksh93 prints a message on KILL.
    if [ "$whence_children" = "$whence_alarm" ]; then kill -KILL "$whence_worker"; else kill -USR1 "$whence_worker"; fi
  }

  # Reading the home folder ends 4 seconds after whence_began, sending takes 5 more. The copy is written while it sends.
  whence_report() {
    whence_began=$(date +%s)
    case $whence_began in *[!0-9]*) whence_began='' ;; esac # There is no such clock; then there is no scan.
    whence_machine=$(uname -s -m) # Such as "Linux x86_64".
    whence_system=${whence_machine%% *}
    whence_machine=${whence_machine#* }
    whence_choose_person
    whence_choose_state_folder
    whence_find_installation
    whence_find_obstacle
    whence_notice
    whence_receipts=''
    whence_browsers=''
    if [ -z "$whence_obstacle" ]; then whence_scan_browsers; fi
    whence_compose
    if [ "$whence_prints" = yes ]; then
      whence_print_request
    else
      whence_keep_copy &
      whence_copying=$!
      whence_send
      wait "$whence_copying"
    fi
  }

  # ---- The shell it runs in -----------------------------------------------------------------------------------------------

  # Makes all shells alike. Everything set here ends with the subshell.
  whence_prepare_shell() {
    set +a +e +u +x +C # What the caller may have switched on. (+x: a trace would show the token.)
    set -f             # The shell itself never lists a folder; that is left to find.
    if [ -n "${ZSH_VERSION:-}" ]; then
      emulate -R sh
      set -f
    fi
    # The token leaves the environment before any other program is started.
    whence_handoff=${WHENCE_HANDOFF:-}
    unset WHENCE_HANDOFF
    IFS=$whence_newline
    umask 077
    trap '' PIPE # A closed terminal must not end the work half way.
    # Messages go to descriptor 3, if there is a standard error. What tools and shells say by themselves goes nowhere.
    if (: 3>&2); then exec 3>&2; else exec 3>/dev/null; fi
    exec 2>/dev/null
    # The programs themselves, not functions of the caller's with their names.
    unset -f awk cat cksum curl date dd df env find grep id ls mktemp od ps readlink rm sh sleep sort tr uname wget xargs
    whence_locale=${LC_ALL:-${LC_MESSAGES:-${LANG:-}}}
    LC_ALL=C # Bytes, not characters: names and contents may hold anything.
    export LC_ALL
    unset CDPATH GREP_OPTIONS
  }

  whence_say() {
    IFS=' ' # It separates the parts of "$*".
    printf 'whence: %s\n' "$*" >&3
    IFS=$whence_newline
  }

  whence_explain() {
    if [ "$whence_explains" = yes ]; then whence_say "$@"; fi
  }

  # Has $1 from $2 to $3 characters, all of them letters, digits, "_" or "-"? Whatever comes from outside passes this or a test
  # like it before it is used, so nothing needs escaping in the JSON below.
  whence_is_word() {
    case $1 in '' | *[!A-Za-z0-9_-]*) return 1 ;; esac
    [ "${#1}" -ge "$2" ] && [ "${#1}" -le "$3" ]
  }

  # The same for facts about the machine, which may also hold ".", "/" and "+".
  whence_is_fact() {
    case $1 in '' | *[!A-Za-z0-9_./+-]*) return 1 ;; esac
    [ "${#1}" -le 64 ]
  }

  # The same for what an installer states for people to read. (For ksh93 a backslash in brackets is itself of the set.)
  whence_is_stated() {
    case $1 in '' | *\\* | *[!A-Za-z0-9_./+:~@#=,\(\)\&\!\ -]*) return 1 ;; esac
    [ "${#1}" -le 64 ]
  }

  # Is $1 an absolute path on one line?
  whence_is_path() {
    case $1 in *"$whence_newline"*) return 1 ;; /*) return 0 ;; *) return 1 ;; esac
  }

  # Is a switch such as DO_NOT_TRACK on? All but empty, 0 and false means yes.
  whence_is_on() {
    case $1 in '' | 0 | false) return 1 ;; *) return 0 ;; esac
  }

  # ---- Arguments, settings, permission ------------------------------------------------------------------------------------

  whence_usage() {
    whence_say 'usage: sh -s -- install_started|install_completed|first_run [option ...]'
    whence_say '  --handoff TOKEN  the token of the copied install command (or WHENCE_HANDOFF); with it no browser is looked at'
    whence_say '  --product-version VERSION  of the installed program (or WHENCE_PRODUCT_VERSION)'
    whence_say '  --place PLACE    where the command stood that was run, such as readme (or WHENCE_PLACE)'
    whence_say '  --test MARK      this is a test of the installer: it is in no figure (the dashboard makes the mark)'
    whence_say '  --no-scan        look at no browser'
    whence_say '  --print          show the exact request on standard output and send nothing'
    whence_say '  --explain        say what is looked at and sent, and why'
    whence_say 'to refuse: DO_NOT_TRACK=1, WHENCE_DISABLED=1 or a file /etc/whence/disabled'
  }

  # Says what is wrong with the arguments. Always fails, so that its caller can return with it.
  whence_refuse() {
    whence_say "$1; nothing is reported"
    whence_usage
    return 1
  }

  whence_read_arguments() {
    whence_event=''
    whence_prints=no
    whence_explains=no
    whence_scans=yes
    whence_test=''
    whence_product_version=${WHENCE_PRODUCT_VERSION:-}
    whence_place=${WHENCE_PLACE:-}
    while [ $# -gt 0 ]; do
      case $1 in
        install_started | install_completed | first_run)
          [ -z "$whence_event" ] || whence_refuse 'more than one event type' || return 1
          whence_event=$1
          ;;
        --handoff | --product-version | --place | --test)
          [ $# -ge 2 ] || whence_refuse "$1 needs a value" || return 1
          whence_take_value "$1" "$2"
          shift
          ;;
        --handoff=* | --product-version=* | --place=* | --test=*) whence_take_value "${1%%=*}" "${1#*=}" ;;
        --no-scan) whence_scans=no ;;
        --print) whence_prints=yes ;;
        --explain) whence_explains=yes ;;
        --help)
          whence_usage
          return 1
          ;;
        -*) whence_refuse 'unknown option' || return 1 ;;
        *) whence_refuse 'unknown event type' || return 1 ;;
      esac
      shift
    done
    [ -n "$whence_event" ] || whence_refuse 'no event type' || return 1
    if [ -n "$whence_handoff" ] && ! whence_is_word "$whence_handoff" 8 128; then
      whence_explain 'the given handoff token is not one, and is left out'
      whence_handoff=''
    fi
    if [ -n "$whence_product_version$whence_place" ]; then whence_check_stated; fi
  }

  # Keeps the value of option $1.
  whence_take_value() {
    case $1 in
      --handoff) whence_handoff=$2 ;;
      --product-version) whence_product_version=$2 ;;
      --place) whence_place=$2 ;;
      --test) whence_test=$2 ;;
    esac
  }

  whence_check_stated() {
    if [ -n "$whence_product_version" ] && ! whence_is_stated "$whence_product_version"; then
      whence_explain 'the given version is too long or has other characters than the usual ones, and is left out'
      whence_product_version=''
    fi
    if [ -n "$whence_place" ] && ! whence_is_stated "$whence_place"; then
      whence_explain 'the given place is too long or has other characters than the usual ones, and is left out'
      whence_place=''
    fi
  }

  # The service checked these before it wrote them. An installer that carries this text itself may not have.
  whence_check_settings() {
    whence_website=${whence_website:-}
    whence_path=${whence_path:-}
    whence_origins=${whence_origins:-}
    whence_scan=${whence_scan:-Notice}
    whence_base_url=${whence_base_url:-}
    whence_wrong=''
    whence_is_word "$whence_website" 1 128 || whence_wrong=whence_website
    [ -z "$whence_path" ] || whence_is_word "$whence_path" 1 128 || whence_wrong=whence_path
    case $whence_origins in *\\* | *[!A-Za-z0-9.:/_\[\]\ -]*) whence_wrong=whence_origins ;; esac
    case $whence_scan in Notice | Silent | Disabled) ;; *) whence_wrong=whence_scan ;; esac
    case $whence_base_url in
      *\\* | *[!A-Za-z0-9.:/_~%\[\]-]*) whence_wrong=whence_base_url ;;
      https://?* | http://?*) ;;
      *) whence_wrong=whence_base_url ;;
    esac
    [ -n "$whence_wrong" ] || return 0
    whence_say "$whence_wrong has no usable value; nothing is reported"
    return 1
  }

  whence_may_report() {
    whence_refusal=''
    if [ -e /etc/whence/disabled ]; then whence_refusal='there is a file /etc/whence/disabled'; fi
    if whence_is_on "${WHENCE_DISABLED:-}"; then whence_refusal='WHENCE_DISABLED is set'; fi
    if whence_is_on "${DO_NOT_TRACK:-}"; then whence_refusal='DO_NOT_TRACK is set'; fi
    [ -n "$whence_refusal" ] || return 0
    whence_explain "$whence_refusal: nothing is looked at and nothing is sent"
    return 1
  }

  # One line for a person at a terminal. Logs and pipes do not get it.
  whence_notice() {
    if [ "$whence_scan" != Notice ] || [ "$whence_prints" = yes ] || ! [ -t 3 ]; then return 0; fi
    whence_scope=''
    if [ -z "$whence_obstacle" ]; then whence_scope=', with the visit that led here if a browser of yours remembers it'; fi
    whence_say "this install is reported to $whence_base_url$whence_scope. To refuse: DO_NOT_TRACK=1"
  }

  # ---- Programs with a limit of time ---------------------------------------------------------------------------------------

  # Runs a program for at most $1 seconds (macOS has no "timeout"): a clock and a watcher run beside each other, and whichever
  # is done first ends the other. While all goes well no signal has to arrive at the right moment, which ksh93 may miss.
  whence_within() {
    whence_limit=$1
    shift
    whence_watcher=''
    # First of all: ksh93 makes a process of the subshell here, which could not wait for what was started before.
    trap 'kill -USR1 "$whence_watcher"; exit 0' HUP INT TERM USR1
    exec 6<&0 # Else a background command would get /dev/null as its input.
    sleep "$whence_limit" >/dev/null 2>&1 3>&- 6<&- &
    whence_clock=$!
    whence_watch "$@" 3>&- &
    whence_watcher=$!
    exec 6<&-
    if wait "$whence_clock"; then kill -USR1 "$whence_watcher"; fi
    wait "$whence_watcher"
  }

  # Runs a program and then ends the clock; or ends the program, if USR1 comes first (a caller may have switched TERM off,
  # but hardly USR1). With exec the program takes the place of the background shell: the process number is its own,
  # and no alias or function of the caller comes in between.
  whence_watch() {
    exec "$@" <&6 6<&- 2>/dev/null &
    whence_child=$!
    exec 6<&-
    trap 'kill -"$whence_signal" "$whence_child"' USR1
    wait "$whence_child"
    whence_status=$?
    kill -KILL "$whence_clock"
    exit "$whence_status"
  }

  # The same, as the person whose home folder it is.
  whence_within_as_person() {
    whence_seconds=$1
    shift
    # shellcheck disable=SC2016 # The inner shell expands it.
    case $whence_switch in
      sudo) set -- sudo -n -H -u "$SUDO_USER" -- "$@" ;;
      runuser | su) set -- "$whence_switch" -s /bin/sh -c 'exec "$@"' "$SUDO_USER" -- sh "$@" ;;
    esac
    whence_within "$whence_seconds" "$@"
  }

  # ---- Whose home folder --------------------------------------------------------------------------------------------------

  # Sets whence_home to the home folder that may be used, or to '' and whence_homeless to the reason. Root never looks into the
  # home folder of another user: under sudo each access to it is made as the person who called sudo, or not at all.
  whence_choose_person() {
    whence_switch=''
    whence_signal=KILL
    whence_home=${HOME:-}
    whence_homeless=''
    whence_user_number=$(id -u)
    case ${SUDO_USER:-} in
      '' | root) ;;
      -* | *[!A-Za-z0-9._@-]*) whence_homeless='SUDO_USER holds no user name' ;;
      *) whence_follow_sudo ;;
    esac
    if [ -z "$whence_homeless" ] && ! whence_is_path "$whence_home"; then whence_homeless='there is no HOME'; fi
    if [ -z "$whence_homeless" ] && [ "$(whence_owner_of "$whence_home/.")" != "$whence_user_number" ]; then
      whence_homeless='HOME belongs to somebody else'
    fi
    if [ -n "$whence_homeless" ]; then whence_home=''; fi
  }

  whence_follow_sudo() {
    whence_caller_number=$(id -u "$SUDO_USER")
    if [ "$whence_caller_number" = "$whence_user_number" ]; then return 0; fi
    if [ "$whence_user_number" != 0 ] || [ -z "$whence_caller_number" ]; then
      whence_homeless='under sudo the home folder of its caller is out of reach'
      return 0
    fi
    whence_user_number=$whence_caller_number
    whence_signal=TERM # These programs pass it on to the one they started; KILL they could not.
    # What root's environment says is not about the other person's folders.
    unset XDG_CONFIG_HOME XDG_STATE_HOME CHROME_CONFIG_HOME CHROME_USER_DATA_DIR
    for whence_switch in sudo runuser su; do
      if command -v "$whence_switch" >/dev/null; then break; fi
    done
    # shellcheck disable=SC2016 # The inner shell expands it.
    whence_home=$(whence_within_as_person 1 sh -c 'printf %s "$HOME"')
    whence_explain "under sudo: home is used as $SUDO_USER, through $whence_switch"
  }

  # The number of the user to whom $1 belongs.
  whence_owner_of() {
    IFS=' ' # The columns of ls; this runs in a subshell of its own.
    # shellcheck disable=SC2046 # The columns become $1, $2, ...
    set -- $(whence_within_as_person 1 ls -dn "$1")
    echo "${3:-}"
  }

  # ---- Its own two files --------------------------------------------------------------------------------------------------

  whence_choose_state_folder() {
    whence_state=''
    if [ -z "$whence_home" ]; then return 0; fi
    if [ "$whence_system" = Darwin ]; then
      whence_state="$whence_home/Library/Application Support"
    else
      whence_state=${XDG_STATE_HOME:-}
      whence_is_path "$whence_state" || whence_state=$whence_home/.local/state
    fi
    whence_state=$whence_state/whence/$whence_website
  }

  # Writes its input to file $1 there. The old file goes first: it might have become a link or a pipe.
  whence_write_state() {
    # shellcheck disable=SC2016 # The inner shell expands it.
    whence_within_as_person 1 sh -c 'umask 077; mkdir -p "$1" && rm -f "$1/$2" && cat >"$1/$2"' sh "$whence_state" "$1"
  }

  # Sets whence_installation, a random name of this installation that is made from nothing of the machine. Deleting the file
  # gives a new one. If it cannot be kept it is valid for this run.
  whence_find_installation() {
    whence_installation=''
    if [ -n "$whence_state" ]; then
      whence_installation=$(whence_within_as_person 1 dd if="$whence_state/installation_id" bs=200 count=1)
    fi
    if whence_is_word "$whence_installation" 8 128; then return 0; fi
    whence_installation=$(whence_random installation)
    if [ -z "$whence_state" ] || [ "$whence_prints" = yes ]; then
      whence_explain 'a random installation ID is used for this run only'
    elif echo "$whence_installation" | whence_write_state installation_id; then
      whence_explain "a new random installation ID is kept in $whence_state"
    else
      whence_explain "a random installation ID is used for this run only: $whence_state cannot be written"
    fi
  }

  whence_keep_copy() {
    if [ -n "$whence_state" ] && echo "$whence_body" | whence_write_state last_request.json; then
      whence_explain "a copy of the request is kept as $whence_state/last_request.json"
    fi
  }

  # 32 random hex digits; or, on a system without, something that is not secret but unlike any other.
  whence_random() {
    whence_digits=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    if whence_is_word "$whence_digits" 32 32; then
      echo "$whence_digits"
    else
      echo "$(date +%Y%m%d%H%M%S)-$$-$1-$(df | cksum | tr ' ' -)"
    fi
  }

  # ---- The scan: files of this website in the browsers --------------------------------------------------------------------

  # Sets whence_obstacle to the reason why there is no scan, or to ''.
  whence_find_obstacle() {
    whence_obstacle=$whence_homeless
    if whence_runs_in_ci; then whence_obstacle='this is CI, so nobody browses here'; fi
    if [ "$whence_scans" = no ]; then whence_obstacle='--no-scan was given'; fi
    if [ "$whence_scan" = Disabled ]; then whence_obstacle='the website has switched it off'; fi
    if [ -n "$whence_handoff" ]; then whence_obstacle='the handoff token names the visit'; fi
    if [ -n "$whence_obstacle" ]; then whence_explain "no browser is looked at: $whence_obstacle"; fi
  }

  # Sets whence_receipts: one receipt a line, the newest first.
  whence_scan_browsers() {
    whence_list_roots
    whence_find_folders
    if [ -z "$whence_folders" ]; then whence_explain 'no browser can have a marker of this website'; return 0; fi
    whence_now=$(date +%s)
    # A clock of whole seconds may hide almost one, so one is kept back.
    whence_left_s=$((${whence_began:-0} + 4 - 1 - ${whence_now:-0}))
    if [ "$whence_left_s" -lt 1 ] || [ "$whence_left_s" -gt 3 ]; then whence_explain 'no time is left to look'; return 0; fi
    whence_found=$(whence_look 2>&1)
    whence_receipts=$(echo "$whence_found" | sort -r |
      awk '$1 == "marker" && NF == 3 && !seen[$3]++ && ++kept <= 64 { print $3 }')
    if [ "$whence_explains" = yes ]; then
      whence_say "$(whence_describe_found)"
    fi
  }

  # In one pass, as each program that is started takes time from the report.
  whence_describe_found() {
    # shellcheck disable=SC2016 # They are awk's own.
    echo "$whence_found" | awk '
      $1 == "files" { files = $2 }
      { count[$1]++ }
      END {
        printf "opened %s files of 200 to 1,021 bytes; markers: %d of this website that hold, %d expired, %d unusable, ",
          files, count["marker"], count["expired"], count["broken"]
        printf "%d of origins that are not its own, %d of other websites", count["foreign"], count["other"]
      }'
  }

  # Where browsers keep profiles, as of 2026-11-27: browser, location, folder below it. Safari is not among them: its files are in a
  # container that macOS protects.
  whence_browser_roots() {
    if [ "$whence_system" = Darwin ]; then echo "$whence_macos_roots"; else echo "$whence_linux_roots"; fi
  }

  whence_macos_roots='chrome support Google/Chrome
chrome support Google/Chrome Beta
chrome support Google/Chrome Dev
chrome support Google/Chrome Canary
chromium support Chromium
edge support Microsoft Edge
edge support Microsoft Edge Beta
edge support Microsoft Edge Dev
edge support Microsoft Edge Canary
brave support BraveSoftware/Brave-Browser
brave support BraveSoftware/Brave-Browser-Beta
brave support BraveSoftware/Brave-Browser-Nightly
arc support Arc/User Data
opera support com.operasoftware.Opera
opera support com.operasoftware.OperaGX
vivaldi support Vivaldi
firefox support Firefox/Profiles
librewolf support librewolf/Profiles
zen support zen/Profiles
waterfox support Waterfox/Profiles
floorp support Floorp/Profiles'

  # Firefox's kind: below the home folder of old, below ~/.config since Firefox 147, there with or without the vendor's name.
  whence_linux_roots='chrome chrome google-chrome
chrome chrome google-chrome-beta
chrome chrome google-chrome-unstable
chrome chrome google-chrome-canary
chrome flatpak com.google.Chrome/config/google-chrome
chromium chrome chromium
chromium snap chromium/common/chromium
chromium flatpak org.chromium.Chromium/config/chromium
chromium flatpak io.github.ungoogled_software.ungoogled_chromium/config/chromium
edge config microsoft-edge
edge config microsoft-edge-beta
edge config microsoft-edge-dev
edge flatpak com.microsoft.Edge/config/microsoft-edge
brave config BraveSoftware/Brave-Browser
brave config BraveSoftware/Brave-Browser-Beta
brave config BraveSoftware/Brave-Browser-Nightly
brave snap brave/current/.config/BraveSoftware/Brave-Browser
brave flatpak com.brave.Browser/config/BraveSoftware/Brave-Browser
opera config opera
opera snap opera/current/.config/opera
opera flatpak com.opera.Opera/config/opera
vivaldi config vivaldi
vivaldi flatpak com.vivaldi.Vivaldi/config/vivaldi
firefox home .mozilla/firefox
firefox config mozilla/firefox
firefox snap firefox/common/.mozilla/firefox
firefox snap firefox/common/.config/mozilla/firefox
firefox flatpak org.mozilla.firefox/.mozilla/firefox
firefox flatpak org.mozilla.firefox/config/mozilla/firefox
librewolf home .librewolf
librewolf config librewolf
librewolf config librewolf/librewolf
librewolf flatpak io.gitlab.librewolf-community/.librewolf
librewolf flatpak io.gitlab.librewolf-community/config/librewolf
librewolf flatpak io.gitlab.librewolf-community/config/librewolf/librewolf
zen home .zen
zen config zen
zen config zen/zen
zen flatpak app.zen_browser.zen/.zen
zen flatpak app.zen_browser.zen/config/zen
zen flatpak app.zen_browser.zen/config/zen/zen
waterfox home .waterfox
waterfox config waterfox
waterfox config waterfox/waterfox
waterfox flatpak net.waterfox.waterfox/.waterfox
waterfox flatpak net.waterfox.waterfox/config/waterfox
waterfox flatpak net.waterfox.waterfox/config/waterfox/waterfox
floorp home .floorp
floorp config floorp
floorp config floorp/floorp
floorp flatpak one.ablaze.floorp/.floorp
floorp flatpak one.ablaze.floorp/config/floorp
floorp flatpak one.ablaze.floorp/config/floorp/floorp'

  # Sets whence_roots: "<browser> <folder>" a line, for all folders in which browsers keep profiles; the default browser's first,
  # if the environment names it.
  whence_list_roots() {
    whence_config=${XDG_CONFIG_HOME:-}
    whence_is_path "$whence_config" || whence_config=$whence_home/.config
    whence_chrome=${CHROME_CONFIG_HOME:-}
    whence_is_path "$whence_chrome" || whence_chrome=$whence_config
    whence_default=$(whence_default_browser)
    whence_first=''
    whence_rest=''
    for whence_line in $(whence_browser_roots); do whence_add_root "$whence_line"; done
    if whence_is_path "${CHROME_USER_DATA_DIR:-}"; then whence_add_root "chrome exactly $CHROME_USER_DATA_DIR"; fi
    whence_roots=$whence_first$whence_rest
  }

  # Adds a line "<browser> <location> <folder below it>".
  whence_add_root() {
    whence_location=${1#* }
    whence_folder=${whence_location#* }
    case ${whence_location%% *} in
      support) whence_folder="$whence_home/Library/Application Support/$whence_folder" ;;
      chrome) whence_folder=$whence_chrome/$whence_folder ;;
      config) whence_folder=$whence_config/$whence_folder ;;
      home) whence_folder=$whence_home/$whence_folder ;;
      snap) whence_folder=$whence_home/snap/$whence_folder ;;
      flatpak) whence_folder=$whence_home/.var/app/$whence_folder ;;
    esac
    whence_root="${1%% *} $whence_folder$whence_newline"
    case $1 in
      "$whence_default "*) whence_first=$whence_first$whence_root ;;
      *) whence_rest=$whence_rest$whence_root ;;
    esac
  }

  # Sets whence_folders: the folders to search, one a line. find gets each root as "<root>" (printed if it is a folder, no
  # link, and the person's own) and as "<root>/." (whose folders, the profiles, it prints as "<root>/./<profile>").
  whence_find_folders() {
    whence_folders=''
    whence_firefox_profiles=''
    whence_current=''
    set --
    for whence_root in $whence_roots; do set -- "$@" "${whence_root#* }" "${whence_root#* }/."; done
    whence_listing=$(whence_within_as_person 1 find "$@" '(' -path '*/./*' -o ! -path '*/.' ')' -prune \
      -type d -user "$whence_user_number" ! -path "*$whence_newline*" -print)
    for whence_line in $whence_listing; do
      case $whence_line in
        */./*) if [ "${whence_line%/./*}" = "$whence_current" ]; then whence_add_profile "$whence_line"; fi ;;
        *) whence_enter_root "$whence_line" ;;
      esac
    done
    whence_add_origin_folders
  }

  whence_enter_root() {
    whence_current=$1
    for whence_root in $whence_roots; do
      if [ "${whence_root#* }" = "$1" ]; then whence_browser=${whence_root%% *}; fi
    done
    whence_explain "looking at $whence_browser in $1"
    case "$whence_newline$whence_browsers" in
      *"$whence_newline$whence_browser$whence_newline"*) ;;
      *) whence_browsers=$whence_browsers$whence_browser$whence_newline ;;
    esac
    if [ "$whence_browser" = opera ]; then whence_add_profile "$1"; fi # It keeps one profile in the root itself.
  }

  # Chromium's kind keeps all websites' files in one folder, under numbers.
  whence_add_profile() {
    case $whence_browser in
      firefox | librewolf | zen | waterfox | floorp) whence_firefox_profiles=$whence_firefox_profiles$1$whence_newline ;;
      *) whence_folders="$whence_folders$1/File System$whence_newline" ;;
    esac
  }

  # Firefox's kind has a folder for each origin (https://a.example:8443 is https+++a.example+8443), and more of them with
  # attributes behind a "^", such as the number of a container tab. Those of this website are picked by name; about others nothing
  # is asked. What a frame in another website's page stored is not meant. More than 1,500 might not fit into one command line.
  whence_add_origin_folders() {
    if [ -z "$whence_firefox_profiles" ]; then return 0; fi
    whence_origin_names=$(echo "$whence_origins" | tr ' :/' '\n++')
    set --
    for whence_profile in $whence_firefox_profiles; do
      for whence_origin in $whence_origin_names; do
        if [ "$#" -lt 1500 ]; then set -- "$@" "$whence_profile/storage/default/$whence_origin"; fi
      done
    done
    whence_folder_count=0
    for whence_folder in $(whence_list_origin_folders "$@"); do
      case $whence_folder in *'^partitionKey='*) continue ;; esac
      if [ "$whence_folder_count" -ge 1500 ]; then return 0; fi
      whence_folder_count=$((whence_folder_count + 1))
      whence_folders=$whence_folders$whence_folder/fs$whence_newline
    done
  }

  # Prints which of these folders there are, then which there are with attributes. The pattern lists names alone, where find would
  # look at each.
  whence_list_origin_folders() {
    # shellcheck disable=SC2016 # The inner shell expands it.
    whence_within_as_person 1 sh -c '
      for folder; do if [ -d "$folder" ] && [ ! -L "$folder" ]; then printf "%s\n" "$folder"; fi; done
      for start; do
        for folder in "$start^"*; do
          case $folder in *"
"*) continue ;; esac
          if [ -d "$folder" ] && [ ! -L "$folder" ]; then printf "%s\n" "$folder"; fi
        done
      done' sh "$@"
  }

  # Prints on standard output what is in the files (see whence_read_markers), and on standard error, from awk alone,
  # "files <number>". All parts of the pipe start together, so each may have all the time that is left. A grep outlives its
  # xargs; so the last part does not wait for it, and it gets no more than 500 files.
  whence_look() {
    whence_find_files |
      whence_put_in_order |
      tr '\n' '\0' |
      whence_within_as_person "$whence_left_s" xargs -0 -n 500 grep -h -s -e '^{"format":"opfs-install-attribution"' /dev/null |
      whence_read_markers 2>/dev/null
  }

  # Prints the names of regular files where a browser puts what websites store: <folder>/NNN/t/NN/NNNNNNNN, or fs/XX/XXXX...
  # Names of exactly 1,021 bytes come once: to that odd size the SDK pads its marker, so hardly any other file has it. Names of
  # less come twice in a row. (It is all that find can say about a file beside its name.) Names with a newline are left out.
  whence_find_files() {
    # shellcheck disable=SC2086 # One argument for each line.
    set -- $whence_folders -xdev -type d '(' -name Paths -o -name Origins ')' -prune -o \
      -type f -size +199c -size -1022c -mtime -31 \
      '(' -path '*/File System/*/t/[0-9][0-9]/[0-9]*' -o -path '*/fs/[A-Z2-7][A-Z2-7]/[A-Z2-7]*' ')' \
      ! -path "*$whence_newline*" '(' -size 1021c -o -print ')' -print
    whence_within_as_person "$whence_left_s" find "$@"
  }

  # Prints the names that came once at once, then the others, 20,000 in all.
  whence_put_in_order() {
    awk -v most=20000 '
      function open_file(name) { if (files < most) { files++; print name } }
      $0 == before { if (others < most) other[++others] = $0; before = ""; next }
      { if (before != "") open_file(before); before = $0 }
      END {
        if (before != "") open_file(before)
        for (n = 1; n <= others; n++) open_file(other[n])
        print "files", files + 0 >"/dev/stderr"
      }'
  }

  # Turns markers into "marker <time of the visit> <receipt>" if they are this website's and hold, else into one word. The order
  # of their members does not matter; a member's value that is not as it must be counts as missing. Clocks may differ by an
  # hour, and a visit lasts for 30 days: whatever claims more would crowd out true ones. One of another origin is not this
  # website's. (Without a list of origins, as an installer that carries this text itself may have none, any will do.)
  whence_read_markers() {
    # shellcheck disable=SC2016 # They are awk's own.
    whence_within "$whence_left_s" awk -v website="$whence_website" -v origins="$whence_origins" -v now="${whence_began}000" '
      BEGIN { hour = 3600000; day = 24 * hour }
      function member(key, value) {
        if (!match($0, "\"" key "\" *: *" value "[ ,}]")) return ""
        value = substr($0, RSTART, RLENGTH - 1)
        sub("^\"" key "\" *: *", "", value)
        gsub("\"", "", value)
        return value
      }
      {
        receipt = member("receipt", "\"[A-Za-z0-9_-]+\"")
        created = member("created_at", "[0-9]+")
        expires = member("expires_at", "[0-9]+")
        origin = member("origin", "\"[^\" ]+\"")
        if (member("project", "\"[^\"]*\"") != website) print "other"
        else if (origins != "" && (origin == "" || !index(" " origins " ", " " origin " "))) print "foreign"
        else if (member("version", "[0-9]+") != 1 || length(receipt) != 43 || length(created) != 13 || expires == "") print "broken"
        else if (created - now > hour || expires - created > 30 * day + hour) print "broken"
        else if (expires + 0 <= now + 0 || now - created > 30 * day + hour) print "expired"
        else print "marker", created, receipt
        fflush() # A line in one piece: the number of files may come in between.
      }'
  }

  # ---- Facts about the machine --------------------------------------------------------------------------------------------

  whence_default_browser() {
    case ${BROWSER:-} in
      *google-chrome*) echo chrome ;;
      *chromium*) echo chromium ;;
      *microsoft-edge*) echo edge ;;
      *brave*) echo brave ;;
      *opera*) echo opera ;;
      *vivaldi*) echo vivaldi ;;
      *librewolf*) echo librewolf ;;
      *waterfox*) echo waterfox ;;
      *floorp*) echo floorp ;;
      zen | zen-browser | */zen | */zen-browser) echo zen ;;
      *firefox*) echo firefox ;;
    esac
  }

  whence_platform() {
    case $whence_system in Darwin) echo darwin ;; Linux) echo linux ;; esac
  }

  # Such as Europe/Berlin.
  whence_timezone() {
    whence_zone=${TZ:-}
    if [ -z "$whence_zone" ]; then whence_zone=$(readlink /etc/localtime); fi
    if [ -z "$whence_zone" ]; then whence_zone=$(dd if=/etc/timezone bs=64 count=1); fi
    whence_zone=${whence_zone##*zoneinfo/}
    whence_zone=${whence_zone#:}
    case $whence_zone in /* | .*) ;; *) printf '%s\n' "$whence_zone" ;; esac
  }

  # Such as en-US, from en_US.UTF-8.
  whence_language() {
    whence_tag=${whence_locale%%[.@]*}
    case $whence_tag in C | POSIX | -*) ;; *) printf '%s\n' "$whence_tag" | tr _ - ;; esac
  }

  # The coding agent that runs this, if its environment says so. Only names from this list leave the machine.
  whence_agent() {
    case ${AI_AGENT:-${AGENT:-}} in
      claude*) echo claude-code ;;
      cursor*) echo cursor ;;
      gemini*) echo gemini-cli ;;
      codex*) echo codex ;;
      copilot* | github-copilot* | github_copilot*) echo copilot-cli ;;
      opencode*) echo opencode ;;
      goose*) echo goose ;;
      amp | amp[@/_-]*) echo amp ;;
      crush*) echo crush ;;
      devin*) echo devin ;;
      *) whence_agent_by_variable ;;
    esac
  }

  whence_agent_by_variable() {
    if [ -n "${CLAUDECODE:-}" ]; then
      echo claude-code
    elif [ -n "${CURSOR_AGENT:-}" ]; then
      echo cursor
    elif [ -n "${GEMINI_CLI:-}" ]; then
      echo gemini-cli
    elif [ -n "${CODEX_THREAD_ID:-}${CODEX_SANDBOX:-}${CODEX_CI:-}" ]; then
      echo codex
    elif [ -n "${COPILOT_CLI:-}" ]; then
      echo copilot-cli
    elif [ -n "${OPENCODE:-}" ]; then
      echo opencode
    elif [ -n "${CLINE_ACTIVE:-}" ]; then
      echo cline
    elif [ -n "${AI_AGENT:-}" ]; then
      echo other
    fi
  }

  # By the names that ci-info 4.5.0 knows, but Heroku, which it tells by a path. As there, CI=false says that this is no CI.
  whence_runs_in_ci() {
    if [ -n "${CI:-}" ]; then
      whence_is_on "$CI"
      return
    fi
    [ -n "${AC_APPCIRCLE:-}${AGOLA_GIT_REF:-}${ALPIC_HOST:-}${APPCENTER_BUILD_ID:-}${APPVEYOR:-}${BITBUCKET_COMMIT:-}\
${BITRISE_IO:-}${BUDDY_WORKSPACE_ID:-}${BUILDER_OUTPUT:-}${BUILDKITE:-}${CAPAWESOME_CLOUD:-}${CF_BUILD_ID:-}\
${CF_PAGES:-}${CIRCLECI:-}${CIRRUS_CI:-}${CI_XCODE_PROJECT:-}${CM_BUILD_ID:-}${CODEBUILD_BUILD_ARN:-}${DRONE:-}\
${DSARI:-}${EARTHLY_CI:-}${EAS_BUILD:-}${GERRIT_PROJECT:-}${GITEA_ACTIONS:-}${GITHUB_ACTIONS:-}${GITLAB_CI:-}\
${GO_PIPELINE_LABEL:-}${HARNESS_BUILD_ID:-}${HUDSON_URL:-}${JENKINS_URL:-}${LAYERCI:-}${MAGNUM:-}${NETLIFY:-}\
${NEVERCODE:-}${NOW_BUILDER:-}${PROW_JOB_ID:-}${RELEASE_BUILD_ID:-}${RENDER:-}${RWX:-}${SAILCI:-}${SCREWDRIVER:-}\
${SEMAPHORE:-}${STRIDER:-}${TEAMCITY_VERSION:-}${TF_BUILD:-}${TRAVIS:-}${VELA:-}${VERCEL:-}${WORKERS_CI:-}${XCS:-}\
${bamboo_planKey:-}${BUILD_ID:-}${BUILD_NUMBER:-}${CI_APP_ID:-}${CI_BUILD_ID:-}${CI_BUILD_NUMBER:-}${CI_NAME:-}\
${CONTINUOUS_INTEGRATION:-}${RUN_ID:-}" ]
  }

  # A person in a container of their own has a terminal, or brought a token along.
  whence_runs_in_container() {
    if [ -n "$whence_handoff" ] || [ -t 3 ]; then return 1; fi
    [ -e /.dockerenv ] || [ -e /run/.containerenv ] || [ -n "${KUBERNETES_SERVICE_HOST:-}" ]
  }

  # ---- The request --------------------------------------------------------------------------------------------------------

  # Sets whence_url, whence_user_agent and whence_body.
  whence_compose() {
    whence_url=${whence_base_url%/}/v1/events
    whence_user_agent=whence-hook/$whence_version
    whence_name=$(whence_agent)
    if [ -n "$whence_name" ]; then whence_user_agent="$whence_user_agent agent/$whence_name"; fi
    whence_body="{\"project\":\"$whence_website\",\"event_id\":\"$(whence_random event)\""
    whence_body="$whence_body,\"installation_id\":\"$whence_installation\",\"event_type\":\"$whence_event\""
    whence_body="$whence_body,\"receipts\":[$(whence_strings "$whence_receipts")]"
    whence_add_member handoff "$whence_handoff"
    whence_add_member platform "$(whence_platform)"
    whence_add_member install_path "$whence_path"
    whence_add_member arch "$whence_machine"
    if [ -n "$whence_browsers" ]; then whence_body="$whence_body,\"browsers\":[$(whence_strings "$whence_browsers")]"; fi
    whence_add_member default_browser "$(whence_default_browser)"
    whence_add_member timezone "$(whence_timezone)"
    whence_add_member language "$(whence_language)"
    whence_add_member test "$whence_test"
    if [ -n "$whence_product_version" ]; then whence_body="$whence_body,\"product_version\":\"$whence_product_version\""; fi
    if [ -n "$whence_place" ]; then whence_body="$whence_body,\"place\":\"$whence_place\""; fi
    # A coding agent at work may set CI so that programs ask nothing.
    if [ -z "$whence_name" ] && whence_runs_in_ci; then whence_body="$whence_body,\"ci\":true"; fi
    if whence_runs_in_container; then whence_body="$whence_body,\"container\":true"; fi
    whence_body="$whence_body}"
  }

  # Adds member $1 with value $2, if there is one and it is in order. (A token or ID was tested before, and may be longer.)
  whence_add_member() {
    if whence_is_fact "$2" || whence_is_word "$2" 1 128; then whence_body="$whence_body,\"$1\":\"$2\""; fi
  }

  # Prints the lines of $1 as JSON strings with commas between.
  whence_strings() {
    whence_list=''
    for whence_item in $1; do
      if whence_is_word "$whence_item" 1 43; then whence_list="$whence_list,\"$whence_item\""; fi
    done
    echo "${whence_list#,}"
  }

  whence_print_request() {
    echo "POST $whence_url"
    echo 'Content-Type: application/json'
    echo "User-Agent: $whence_user_agent"
    echo
    echo "$whence_body"
  }

  whence_send() {
    whence_signal=KILL # It is not sudo that is run here.
    whence_now=$(date +%s)
    # What is left of 9 seconds, one of them kept back as above, and 5 at most.
    whence_left_s=$((${whence_began:-0} + 9 - 1 - ${whence_now:-0}))
    if [ -z "$whence_began" ] || [ "$whence_left_s" -gt 5 ]; then whence_left_s=5; fi
    if [ "$whence_left_s" -lt 1 ]; then
      whence_explain 'nothing is sent: no time is left'
    elif command -v curl >/dev/null; then
      whence_send_with_curl
    elif command -v wget >/dev/null; then
      whence_send_with_wget
    else
      whence_explain 'nothing is sent: there is neither curl nor wget'
    fi
  }

  # The body goes through a pipe, as arguments are visible to every user of the machine. -q: no settings of the user's, such as
  # another output file. One address, one try, no redirection, and the answer is thrown away.
  whence_send_with_curl() {
    whence_answer=$(echo "$whence_body" |
      whence_within "$whence_left_s" curl -q --silent --globoff --proto "=${whence_base_url%%:*}" --connect-timeout 3 --max-time 5 \
        --max-redirs 0 --max-filesize 65536 --output /dev/null --write-out '%{http_code}' --user-agent "$whence_user_agent" \
        --header 'Content-Type: application/json' --header 'Expect:' --data-binary @- "$whence_url")
    whence_explain "sent with curl to $whence_url; HTTP status ${whence_answer:-000} (000: no answer)"
  }

  # wget has no way but a file. Its home folder is a fresh one, so that no settings, passwords or list of hosts of the user's are
  # read or written. The wget of busybox lacks some options, and which ones differs: they are looked up in its help.
  whence_send_with_wget() {
    whence_help=$(command wget --help 2>&1)
    case $whence_help in *--post-file*) ;; *) whence_explain 'nothing is sent: this wget cannot'; return 0 ;; esac
    [ -n "$whence_temporary" ] || return 0
    set -- -q -O /dev/null --header 'Content-Type: application/json' -U "$whence_user_agent"
    case $whence_help in *--tries*) set -- "$@" -t 1 ;; esac
    case $whence_help in *--timeout* | *'-T SEC'*) set -- "$@" -T 5 ;; esac
    case $whence_help in *--max-redirect*) set -- "$@" --max-redirect=0 ;; esac
    case $whence_help in *--no-config*) set -- "$@" --no-config ;; esac
    # On a signal wget would go on into a file "wget-log" in the folder where the installer runs.
    case $whence_help in *--output-file* | *'-o LOGFILE'*) set -- "$@" -o /dev/null ;; esac
    case $whence_help in *--no-hsts*) set -- "$@" --no-hsts ;; esac
    if echo "$whence_body" >"$whence_temporary/body"; then
      whence_within "$whence_left_s" env HOME="$whence_temporary" wget "$@" --post-file "$whence_temporary/body" "$whence_url"
      whence_explain "sent with wget to $whence_url; exit status $?"
    fi
  }

  whence_main "$@"
)

whence_hook ${1+"$@"} </dev/null || :; unset -f whence_hook; unset whence_website whence_path whence_origins whence_scan whence_base_url; :; }