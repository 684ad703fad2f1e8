#!/usr/bin/env bash
# What the GitHub Action runs: annotations, the summary of the job, SARIF. The second and third run are answered by the cache.
set -uo pipefail
set -f # words are split at blanks, patterns in them are torchlint's business

read -r -a paths <<< "${TORCHLINT_ACTION_PATHS:-.}"
read -r -a options <<< "${TORCHLINT_ACTION_ARGS:-}"
[ -z "${TORCHLINT_ACTION_DIFF_BASE:-}" ] || options+=("--diff-base=$TORCHLINT_ACTION_DIFF_BASE")
[ "${TORCHLINT_ACTION_DRY_RUN:-true}" = true ] || options+=(--no-dry-run)

torchlint check "${options[@]}" --fail-on "${TORCHLINT_ACTION_FAIL_ON:-info}" --output-format github -- "${paths[@]}"
code=$?
echo "exit-code=$code" >> "${GITHUB_OUTPUT:-/dev/null}"
[ "$code" -lt 2 ] || exit "$code"
torchlint check "${options[@]}" --quiet --exit-zero --output-format markdown -- "${paths[@]}" \
    >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
torchlint check "${options[@]}" --quiet --exit-zero --output-format sarif \
    --output-file "${TORCHLINT_ACTION_SARIF:-torchlint.sarif}" -- "${paths[@]}"
exit "$code"
