# fish completion for kubectl-rs.
#
# For kubectl-rs itself:     kubectl-rs completion fish > ~/.config/fish/completions/kubectl-rs.fish
# For kubectl rs <TAB>:      put kubectl_complete-rs on the PATH, beside kubectl's own completion.

function __kubectl_rs_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (command $words[1] __complete $words[2..-1] 2>/dev/null)
        string match -qr '^:\d+$' -- $line; or echo $line
    end
end

function __kubectl_rs_wants_files
    set -l words (commandline -opc) (commandline -ct)
    test (command $words[1] __complete $words[2..-1] 2>/dev/null)[-1] = :0
end

complete -c kubectl-rs -f -a '(__kubectl_rs_complete)'
complete -c kubectl-rs -n __kubectl_rs_wants_files -F
