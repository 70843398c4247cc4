#!/usr/bin/env bash
# Writes the report as a comment of the pull request: into the one that it left before, if there is one.
set -euo pipefail

comments="repos/$REPOSITORY/issues/$NUMBER/comments"
mine="$(gh api --paginate "$comments" --jq '.[] | select(.user.type == "Bot" and (.body | startswith("<!-- energy-diff -->"))) | .id' | head -1)"
if [ -n "$mine" ]; then
    gh api --silent --method PATCH "repos/$REPOSITORY/issues/comments/$mine" --field "body=@$REPORT"
else
    gh api --silent --method POST "$comments" --field "body=@$REPORT"
fi
