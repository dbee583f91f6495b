"""What is asked about in every mode, whatever rules and grants say.

Deleting a home or root folder, throwing away commits or uncommitted work, disks and file systems, other users'
rights, running a download unseen, opening folders to everybody; changing the repository's own files, shell
start-up files, keys and credentials, and the settings, hooks and agent configuration that this very gate stands
on; changing anything outside the working directories. What cannot be read may be one of these.
"""

from agentframework.permissions.safeguards.alarm import Alarm
from agentframework.permissions.safeguards.find import find_alarm

__all__ = ["Alarm", "find_alarm"]
