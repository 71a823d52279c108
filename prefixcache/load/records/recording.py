"""The record of a request: its plan, its way to the server and its outcome, on the clock of the pass."""

from __future__ import annotations

from dataclasses import dataclass

from prefixcache.load.dataset import Planned
from prefixcache.load.records.rows import Phase, RequestRecord
from prefixcache.load.request.outcome import Outcome
from prefixcache.load.sending.routes import Target


@dataclass(frozen=True, slots=True)
class Way:
    """How a request came to be sent; moments are of ``time.perf_counter``.

    Args:
        pass_name, began, phase: of the pass.
        target: where it went.
        ready: a slot was free and it was next, in an open loop not before ``due``.
        opened: its gate was open, not before ``ready``.
        due: the moment of the load shape; None in a closed loop.
        gate_broken: nothing covered it.
    """

    pass_name: str
    began: float
    phase: Phase
    target: Target
    ready: float
    opened: float
    due: float | None = None
    gate_broken: bool = False


def record_of(planned: Planned, way: Way, outcome: Outcome) -> RequestRecord:
    """The row of a request that was sent, or was about to be when the run stopped."""

    def since(moment: float | None) -> float | None:
        return None if moment is None else moment - way.began

    # Of a request that was sent again, the time since it might have gone is not the sender's doing.
    late = None if outcome.sent is None or outcome.retried else outcome.sent - way.opened
    return RequestRecord(
        pass_name=way.pass_name,
        request_id=planned.request_id,
        prefix_group_id=planned.group,
        order_index=planned.order_index,
        phase=way.phase,
        endpoint=way.target.endpoint.base,
        planned_dp_id=planned.domain,
        planned_route=planned.route,
        actual_route=way.target.actual_route if outcome.served_rank is None else outcome.served_rank,
        scheduled_s=since(way.due),
        ready_s=way.ready - way.began,
        sent_s=since(outcome.sent),
        first_byte_s=since(outcome.first_byte),
        first_token_s=since(outcome.first_token),
        first_text_s=since(outcome.first_text),
        last_token_s=since(outcome.last_token),
        gate_wait_s=way.opened - way.ready,
        lag_s=late,
        gate_broken=way.gate_broken,
        input_len=planned.input_len,
        prompt_tokens=outcome.usage.prompt_tokens,
        completion_tokens=outcome.usage.completion_tokens,
        cached_tokens=outcome.usage.cached_tokens,
        expected_hit_len=planned.hits.get(way.pass_name),
        chunks=len(outcome.tokens_at),
        itl_max_s=outcome.longest_gap,
        http_status=outcome.http_status,
        status=outcome.status,
        error=outcome.error,
        attempts=outcome.attempts,
        retried=outcome.retried,
        failure=outcome.failure,
        connection=outcome.connection,
        output_by=outcome.output_by,
        output_len=planned.output_len,
        odd_usage=outcome.usage.odd,
        token_times=() if outcome.sent is None else tuple(t - outcome.sent for t in outcome.tokens_at),
    )
