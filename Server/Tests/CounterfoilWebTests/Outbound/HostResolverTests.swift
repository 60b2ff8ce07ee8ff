@_spi(Counterfoil) import CounterfoilProtocol
import Dispatch
import NIOCore
import TestSupport
import Testing

@testable import CounterfoilWeb

/// DNS lookups, which cannot be cancelled when they hang.
struct HostResolverTests {
    /// A resolver that never responds for some names, until it is released.
    private final class NameService: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        private let started = Mutex(0)

        /// The number of lookups that have begun to hang.
        var hanging: Int { started.withLock { $0 } }

        func addresses(of host: String) -> [[UInt8]] {
            guard host.hasPrefix("silent") else { return [[192, 0, 2, 1]] }
            started.withLock { $0 += 1 }
            gate.wait()
            gate.signal()
            return []
        }

        func release() { gate.signal() }
    }

    private static func isFound(_ answer: HostResolver.Answer) -> Bool {
        if case .found(let addresses) = answer { !addresses.isEmpty } else { false }
    }

    @Test func `a party whose lookups hang delays no other party`() async throws {
        let service = NameService()
        let resolver = HostResolver(label: "test.lookups", lookUp: service.addresses(of:))
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { service.release() }
            for number in 0..<50 {
                group.addTask {
                    _ = await resolver.addresses(of: "silent\(number).example", for: "dora", within: .minutes(10))
                }
            }
            _ = try await Waiting.until("the first hanging lookups") { service.hanging == 2 ? true : nil }
            for number in 0..<20 {
                let answer = await resolver.addresses(of: "host\(number).example", for: "erin", within: .minutes(10))
                #expect(Self.isFound(answer))
            }
            // The end of a hanging lookup would have started a third, so the answers above waited for none of them.
            #expect(service.hanging == 2)
        }
    }

    @Test func `a hanging lookup times out`() async {
        let service = NameService()
        defer { service.release() }
        let resolver = HostResolver(label: "test.lookups", lookUp: service.addresses(of:))
        let answer = await resolver.addresses(of: "silent.example", for: "dora", within: .milliseconds(50))
        guard case .timedOut = answer else {
            Issue.record("\(answer)")
            return
        }
    }

    @Test func `hanging lookups release their places, up to a limit`() async {
        let service = NameService()
        let limits = HostResolver.Limits(running: 2, hanging: 3, perParty: 1, waiting: 10)
        let resolver = HostResolver(label: "test.lookups", limits: limits, lookUp: service.addresses(of:))
        func answer(_ host: String, _ party: String) async -> HostResolver.Answer {
            await resolver.addresses(of: host, for: party, within: .milliseconds(50))
        }
        for number in 0..<4 { _ = await answer("silent.example", "party \(number)") }
        // One of two places is left.
        #expect(Self.isFound(await answer("host.example", "erin")))
        _ = await answer("silent.example", "party 4")
        guard case .busy = await answer("host.example", "erin") else {
            Issue.record("a look-up was started beyond the limit")
            return service.release()
        }
        #expect(service.hanging == 5)
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
