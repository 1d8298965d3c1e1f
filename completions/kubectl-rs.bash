# bash completion for kubectl-rs. Needs nothing beside bash.
#
# For kubectl-rs itself:     kubectl-rs completion bash > ~/.local/share/bash-completion/completions/kubectl-rs
# For kubectl rs <TAB>:      put kubectl_complete-rs on the PATH, beside kubectl's own completion.

_kubectl_rs() {
    # bash takes words apart at = and :, so the line is read anew.
    local line="${COMP_LINE:0:COMP_POINT}" reply directive=0
    local -a words=()
    read -ra words <<<"$line"
    [[ "$line" == *[[:space:]] ]] && words+=("")
    local current="${words[-1]}"
    COMPREPLY=()
    while IFS= read -r reply; do
        if [[ "$reply" == :* ]]; then
            directive="${reply#:}"
        else
            reply="${reply%%$'\t'*}"
            # What bash believes to be earlier words is not to be repeated.
            [[ "$current" == *[=:]* ]] && reply="${reply#"${current%"${current##*[=:]}"}"}"
            COMPREPLY+=("$reply")
        fi
    done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
    ((directive & 2)) && compopt -o nospace 2>/dev/null
    ((directive & 4)) || compopt -o default 2>/dev/null
}

complete -F _kubectl_rs kubectl-rs
