# zsh -f zsh_complete.zsh FOLDER LINE: prints LINE as zsh completes it with the functions in FOLDER.
zmodload zsh/zpty
zpty terminal zsh -f -i
# The prompt says that a command has ended; ^X^P prints the line that is being edited.
zpty -w terminal "PS1='READY> '; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w terminal "unsetopt beep; show() { print -r -- \"<<\$BUFFER>>\" > $1/line; exit }; zle -N show; bindkey '^X^P' show"
zpty -w terminal "print SET''UP"
while zpty -r terminal text && [[ $text != *SETUP* ]]; do :; done
zpty -w -n terminal "$2"$'\t'
zpty -w -n terminal $'\C-X\C-P'
for ((i = 0; i < 300; ++i)); do
  [[ -s $1/line ]] && break
  zpty -r -t terminal text
  sleep 0.1
done
line=$(<$1/line); rm -f $1/line
print -r -- "${${line#<<}%>>}"
zpty -d terminal
