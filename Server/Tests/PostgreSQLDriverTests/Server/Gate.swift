import Dispatch
import PostgreSQLTesting
import TestSupport

@testable import PostgreSQLDriver

/// A place in the closure of a request at which the thread of its connection waits for the test.
final class Gate: Sendable {
    private let arrivals = Counter()
    private let bell = DispatchSemaphore(value: 0)

    /// Waits until the gate is open.
    func pass() {
        arrivals.next()
        bell.wait()
        bell.signal()
    }

    /// Lets every thread pass, now and later.
    func open() { bell.signal() }

    func awaitArrivals(_ count: Int = 1) async throws {
        _ = try await Waiting.until("\(count) requests under way") { arrivals.value >= count ? true : nil }
    }
}

extension ConnectionThreads {
    /// Runs a statement on several connections at the same time, so that each of them is open.
    func openConnections(_ count: Int, running sql: String = "SELECT 1") async throws {
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await self.read(by: .now + .seconds(60)) { transaction in
                        _ = try transaction.run(sql)
                        gate.pass()
                    }
                }
            }
            try await gate.awaitArrivals(count)
            gate.open()
            try await group.waitForAll()
        }
    }
}
