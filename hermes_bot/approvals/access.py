"""Says whether a person may decide about a request, closed on any doubt, and if not, who may."""

from __future__ import annotations

from hermes_bot.approvals.request import ApprovalRequest
from hermes_bot.approvals.rules import ApprovalRules, Authority
from hermes_bot.errors import TransientError
from hermes_bot.people import Roles

NOT_SURE = "Slack could not confirm just now that you may decide this. Nothing was done; please click again."
OWN_REQUEST = "You asked for this yourself, so somebody else has to decide it. Nothing was done."
OLD_CARD = "This card does not show what would run now. Nothing was done; please use the newest card."


class Access:
    """Looks people up at the time of the click."""

    def __init__(self, roles: Roles, rules: ApprovalRules) -> None:
        self._roles = roles
        self._rules = rules

    def authority(self, request: ApprovalRequest) -> Authority:
        """Return who decides, as the rules say today; no fewer people than the card said."""
        return self._rules.authority(request.tool, request.level, request.arguments)

    async def refusal(self, request: ApprovalRequest, *, team: str, user: str, shown_hash: str) -> str:
        """Return why this person may not decide about what they saw, in words for them alone; empty if they may."""
        approvers = self.authority(request).approvers
        try:
            allowed = await self._roles.includes(approvers, team, user)
        except TransientError:
            return NOT_SURE
        if not allowed:
            who = await self._roles.names(approvers) or "the approvers"
            return f"Nothing was done: this can be decided only by {who}."
        if user == request.requested_by and not self._rules.allow_requester:
            return f"{OWN_REQUEST}{await self.others(request, user)}"
        return "" if shown_hash == request.shown_hash else OLD_CARD

    async def others(self, request: ApprovalRequest, user: str) -> str:
        """Return a sentence that names who decides besides this person; empty where nobody can be named."""
        who = await self._roles.names(self.authority(request).approvers, but=user)
        return f" This can be decided by {who}." if who else ""

    async def decides(self, request: ApprovalRequest, *, team: str, user: str) -> bool:
        """Return whether the person is one of those who decide; False where Slack does not say."""
        try:
            return await self._roles.includes(self.authority(request).approvers, team, user)
        except TransientError:
            return False
