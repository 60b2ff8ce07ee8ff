import Dispatch
import NIOCore
import Synchronization
import Testing

@testable import CounterfoilWeb

/// DNS lookups, which cannot be cancelled when they hang.
struct LookUpTests {
    /// A resolver that never responds for some names, until it is released.
    private final class NameService: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        private let hanging = Mutex(0)
        private let most = Mutex(0)

        /// The number of concurrent hanging lookups.
        var mostHanging: Int { most.withLock { $0 } }

        func addresses(of host: String) -> [[UInt8]] {
            guard host.hasPrefix("silent") else { return [[192, 0, 2, 1]] }
            let now = hanging.withLock { count in
                count += 1
                return count
            }
            most.withLock { $0 = max($0, now) }
            gate.wait()
            return []
        }

        func release() { for _ in 0..<hanging.withLock({ $0 }) { gate.signal() } }
    }

    private static func isFound(_ answer: LookUps.Answer) -> Bool {
        if case .found(let addresses) = answer { !addresses.isEmpty } else { false }
    }

    // SEC-36, SEC-37
    @Test func `a party whose lookups hang delays no other party`() async {
        let service = NameService()
        let lookUps = LookUps(label: "test.lookups", lookUp: service.addresses(of:))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let answer = await lookUps.addresses(
                        of: "silent\(number).example", for: "dora", within: .seconds(2))
                    if case .timedOut = answer { return }
                    Issue.record("\(answer)")
                }
            }
            try? await Task.sleep(for: .milliseconds(100))
            let start = ContinuousClock.now
            for number in 0..<20 {
                let answer = await lookUps.addresses(of: "host\(number).example", for: "erin", within: .seconds(2))
                #expect(Self.isFound(answer))
            }
            #expect(start.duration(to: .now) < .seconds(1))
            await group.waitForAll()
        }
        #expect(service.mostHanging == 2)
        service.release()
    }

    @Test func `hanging lookups release their places, up to a limit`() async {
        let service = NameService()
        let limits = LookUps.Limits(running: 2, hanging: 3, perParty: 1, waiting: 10)
        let lookUps = LookUps(label: "test.lookups", limits: limits, lookUp: service.addresses(of:))
        func answer(_ host: String, _ party: String) async -> LookUps.Answer {
            await lookUps.addresses(of: host, for: party, within: .milliseconds(50))
        }
        for number in 0..<4 { _ = await answer("silent.example", "party \(number)") }
        // One of two places is left.
        #expect(Self.isFound(await answer("host.example", "erin")))
        _ = await answer("silent.example", "party 4")
        guard case .busy = await answer("host.example", "erin") else {
            Issue.record("a look-up was started beyond the limit")
            return service.release()
        }
        #expect(service.mostHanging == 5)
        service.release()
        // The threads end in their own time.
        var isFound = false
        for _ in 0..<100 {
            isFound = Self.isFound(await answer("host.example", "erin"))
            if isFound { break }
        }
        #expect(isFound)
    }
}
