# PowerShell completion for kubectl-rs.
#
# For kubectl-rs itself:     kubectl-rs completion powershell | Out-String | Invoke-Expression
# For kubectl rs <TAB>:      put kubectl_complete-rs on the PATH, beside kubectl's own completion.

Register-ArgumentCompleter -Native -CommandName 'kubectl-rs' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    # What stands behind the cursor does not count.
    $words = @($commandAst.CommandElements |
        Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
        ForEach-Object { $_.Extent.Text })
    if ($wordToComplete -eq '') {
        # Before 7.3, and in its legacy mode, PowerShell drops empty arguments unless they are quoted twice.
        $legacy = $PSVersionTable.PSVersion -lt [version]'7.3' -or $PSNativeCommandArgumentPassing -eq 'Legacy'
        $words += if ($legacy) { '""' } else { '' }
    }
    $program = $words[0]
    $arguments = @('__complete') + @($words | Select-Object -Skip 1)
    & $program @arguments 2>$null | Where-Object { $_ -notmatch '^:\d+$' } | ForEach-Object {
        $value, $description = $_ -split "`t", 2
        if (-not $description) { $description = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $description)
    }
}
