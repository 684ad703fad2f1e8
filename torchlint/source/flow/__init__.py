"""Where values come from. Six files of it need each other; whichever is asked for, `flow` comes first."""

from torchlint.source.flow import flow as flow
