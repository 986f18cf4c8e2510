import type { TrafficSlot as CountedSlot, TrafficSum } from "../../telemetry/traffic.ts";
import type { Traffic, TrafficSlot } from "./types.ts";
import { instant } from "./when.ts";

export function trafficView({ requests, refused, errors, tookMs }: TrafficSum): Traffic {
	return { requests, refused, errors, latencyMs: tookMs };
}

export function slotView(slot: CountedSlot): TrafficSlot {
	return { at: instant(slot.atMs), ...trafficView(slot) };
}
