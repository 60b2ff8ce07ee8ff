// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension MemoryStore: StoreClock {
    public func now() -> Date { SteadyClock.shared.now }
}

extension MemoryStore: ServiceRecordStore {
    public func recordService(at now: Date, outageAfter silence: TimeInterval) async throws(StoreFault) {
        state.withLock { state in
            var outages = state.service.outages
            // A later time than the limit allows is from before the clock was set back.
            let former = state.service.answeredAt.flatMap { $0.timeIntervalSince(now) > silence ? nil : $0 }
            if former == nil { outages.removeAll { $0.ended > now } }
            if let former, now.timeIntervalSince(former) > silence {
                outages.append(ServiceRecord.Outage(began: former, ended: now))
            }
            state.service = ServiceRecord(
                answeredAt: max(former ?? now, now),
                outages: Array(outages.suffix(ServiceRecord.outageLimit)))
        }
    }

    public func takeUpSpace() async throws(StoreFault) {}

    public func serviceRecord(since start: Date) async throws(StoreFault) -> ServiceRecord {
        state.withLock { state in
            ServiceRecord(
                answeredAt: state.service.answeredAt, outages: state.service.outages.filter { $0.ended > start })
        }
    }
}
