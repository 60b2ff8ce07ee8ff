public import CounterfoilServer
public import Foundation
import Synchronization

extension MemoryStore: ServiceRecordStore {
    /// Records that the store answers at a moment; earlier moments change nothing.
    public func recordService(at now: Date, outageAfter silence: TimeInterval) async throws(StoreFault) {
        state.withLock { state in
            var outages = state.service.outages
            if let former = state.service.answeredAt, now.timeIntervalSince(former) > silence {
                outages.append(ServiceRecord.Outage(began: former, ended: now))
            }
            state.service = ServiceRecord(
                answeredAt: max(state.service.answeredAt ?? now, now),
                outages: Array(outages.suffix(ServiceRecord.outageLimit)))
        }
    }

    /// Reads the record, with the outages that ended after a moment.
    public func serviceRecord(since start: Date) async throws(StoreFault) -> ServiceRecord {
        state.withLock { state in
            ServiceRecord(
                answeredAt: state.service.answeredAt, outages: state.service.outages.filter { $0.ended > start })
        }
    }
}
