import IPAddresses
import Logging
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import HTTPListener

/// The limits of connections, and which connection is evicted.
struct OpenConnectionsTests {
    private static func make(
        total: Int = 40, trusting proxies: [String] = [], trustsLoopback: Bool = false
    ) throws -> OpenConnections {
        OpenConnections(
            limits: ConnectionLimits(total: total), budget: BodyBudget(), trustedProxies: try TrustedProxies(proxies),
            trustsLoopback: trustsLoopback, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// A connection without a socket to close.
    private struct Nothing: ClosableConnection {
        func close(unless isBusy: @escaping @Sendable () -> Bool) {}
        func end(after delay: TimeAmount, unless isBusy: @escaping @Sendable () -> Bool) {}
    }

    private static func admit(_ connections: OpenConnections, _ address: String) -> OpenConnection? {
        connections.admit(Nothing(), from: IPAddress(address))
    }

    private static func fill(_ connections: OpenConnections, _ count: Int, from address: String) -> [OpenConnection] {
        (0..<count).compactMap { _ in admit(connections, address) }
    }

    @Test func `a source may use a tenth of all connections, and at least as many as a few browsers open`() {
        #expect(ConnectionLimits.standard.total == 10_000)
        for (total, perSource) in [(10_000, 1000), (1000, 100), (112, 32), (40, 20), (16, 8)] {
            #expect(ConnectionLimits(total: total).perSource == perSource)
        }
    }

    @Test func `a source beyond its share is refused, and another one is not`() throws {
        let connections = try Self.make()
        let first = Self.fill(connections, 25, from: "192.0.2.1")
        #expect(first.count == 20)
        #expect(Self.admit(connections, "192.0.2.2") != nil)
        #expect(connections.snapshot.refused[.source] == 5)
        #expect(connections.snapshot.open == 21)

        connections.remove(try #require(first.first))
        #expect(Self.admit(connections, "192.0.2.1") != nil)
        #expect(Self.admit(connections, "192.0.2.1") == nil)
    }

    @Test func `all listeners together have room for the sockets of the limit, and wait for it`() throws {
        let connections = try Self.make(total: 16)
        let woken = NIOLockedValueBox(0)
        for _ in 0..<(16 + ConnectionLimits.closingAllowance) {
            #expect(connections.hasRoomForSocket { woken.withLockedValue { $0 += 1 } })
            connections.openedSocket()
        }
        for _ in 0..<2 { #expect(!connections.hasRoomForSocket { woken.withLockedValue { $0 += 1 } }) }
        #expect(woken.withLockedValue { $0 } == 0)
        connections.closedSocket()
        #expect(woken.withLockedValue { $0 } == 2)
        connections.closedSocket()
        #expect(woken.withLockedValue { $0 } == 2)
    }

    @Test func `the addresses of one IPv6 network are one source`() throws {
        let connections = try Self.make()
        let admitted = (0..<25).compactMap { Self.admit(connections, "2001:db8:1:2::\($0)") }
        #expect(admitted.count == 20)
        #expect(Self.admit(connections, "2001:db8:1:3::1") != nil)
    }

    @Test func `a trusted proxy may use all connections`() throws {
        let connections = try Self.make(trusting: ["10.0.0.0/8"], trustsLoopback: true)
        #expect(Self.fill(connections, 25, from: "10.1.2.3").count == 25)
        #expect(Self.fill(connections, 15, from: "127.0.0.1").count == 15)
        #expect(try Self.fill(Self.make(), 25, from: "127.0.0.1").count == 20)
    }

    @Test func `a change of the trusted proxies counts for sources with open connections`() throws {
        let connections = try Self.make()
        let proxy = try TrustedProxies(["10.0.0.0/8"])
        let first = Self.fill(connections, 25, from: "10.1.2.3")
        #expect(first.count == 20)
        let connection = try #require(first.first)
        #expect(!connections.budget.take(9 << 20, for: connection.share))

        connections.change(limits: connections.limits, trustedProxies: proxy)
        #expect(Self.fill(connections, 5, from: "10.1.2.3").count == 5)
        #expect(connections.budget.take(9 << 20, for: connection.share))
        connections.budget.giveBack(9 << 20, for: connection.share)

        connections.change(limits: connections.limits, trustedProxies: .none)
        #expect(connections.refusesMore(from: IPAddress("10.1.2.3")))
        #expect(Self.admit(connections, "10.1.2.3") == nil)
        #expect(!connections.budget.take(9 << 20, for: connection.share))
    }

    @Test func `the connection that has been silent for longest is evicted`() throws {
        let connections = try Self.make()
        let first = Self.fill(connections, 20, from: "192.0.2.1")
        let second = Self.fill(connections, 20, from: "192.0.2.2")
        // The first one has been used meanwhile.
        first[0].enter(.answering)
        first[0].enter(.idle)
        #expect(Self.admit(connections, "192.0.2.3") != nil)
        #expect(first.map(\.isEvicted) == [false, true] + Array(repeating: false, count: 18))
        #expect(second.allSatisfy { !$0.isEvicted })
        #expect(connections.snapshot.evicted == 1)
    }

    @Test func `without a silent connection the least recently used one is evicted`() throws {
        let connections = try Self.make()
        let all = Self.fill(connections, 20, from: "192.0.2.1") + Self.fill(connections, 20, from: "192.0.2.2")
        for connection in all { connection.enter(.idle) }
        let new = try #require(Self.admit(connections, "192.0.2.3"))
        new.enter(.answering)
        #expect(all.map(\.isEvicted) == [true] + Array(repeating: false, count: 39))
        // The second one is used, so the third one is next.
        all[1].enter(.answering)
        all[1].enter(.idle)
        #expect(Self.admit(connections, "192.0.2.4") != nil)
        #expect(all.prefix(3).map(\.isEvicted) == [true, false, true])
    }

    @Test func `connections with a pending response are never evicted`() throws {
        let connections = try Self.make()
        let all = Self.fill(connections, 20, from: "192.0.2.1") + Self.fill(connections, 20, from: "192.0.2.2")
        for connection in all { connection.enter(.answering) }
        #expect(Self.admit(connections, "192.0.2.3") == nil)
        #expect(all.allSatisfy { !$0.isEvicted })
        #expect(connections.snapshot.refused[.total] == 1)
    }

    @Test func `a connection whose body has been arriving for two seconds is evicted`() async throws {
        let connections = try Self.make()
        let all = Self.fill(connections, 20, from: "192.0.2.1") + Self.fill(connections, 20, from: "192.0.2.2")
        for connection in all { connection.enter(.reading) }
        #expect(Self.admit(connections, "192.0.2.3") == nil)
        try await Task.sleep(for: .milliseconds(2_100))
        #expect(Self.admit(connections, "192.0.2.3") != nil)
        #expect(all.count { $0.isEvicted } == 1)
    }

    @Test func `closed connections leave no records`() throws {
        let connections = try Self.make(total: 100)
        for round in 0..<50 {
            let some = Self.fill(connections, 30, from: "192.0.2.\(round)")
            for (index, connection) in some.enumerated() where index % 3 > 0 { connection.enter(.idle) }
            for connection in round % 2 == 0 ? some : some.reversed() { connections.remove(connection) }
        }
        #expect(connections.snapshot.open == 0)
        #expect(Self.fill(connections, 32, from: "192.0.2.1").count == 32)
    }

    @Test func `a body counts from its ninth kilobyte on, for its source and for all`() {
        let budget = BodyBudget(total: 100, perSource: 40)
        let (first, second, proxy) = (
            BodyBudget.Share(isLimited: true), BodyBudget.Share(isLimited: true), BodyBudget.Share(isLimited: false)
        )
        #expect(budget.take(40, for: first))
        #expect(!budget.take(1, for: first))
        #expect(budget.take(60, for: proxy))
        #expect(!budget.take(1, for: second))
        budget.giveBack(60, for: proxy)
        #expect(budget.take(1, for: second))
        #expect(budget.usedBytes == 41)
        #expect(budget.refusedBodies == 2)
    }

    @Test func `bodies may use 64 MiB, and those of one source 8 MiB`() {
        let budget = BodyBudget()
        let (source, proxy) = (BodyBudget.Share(isLimited: true), BodyBudget.Share(isLimited: false))
        #expect(BodyBudget.freeBytes == 8 << 10)
        #expect(budget.take(8 << 20, for: source))
        #expect(!budget.take(1, for: source))
        #expect(budget.take(56 << 20, for: proxy))
        #expect(!budget.take(1, for: proxy))
    }

    @Test func `connections of a server that stops close after their next response, and it waits for the last one`()
        async throws
    {
        let connections = try Self.make()
        await connections.allClosed()
        let before = try #require(Self.admit(connections, "192.0.2.1"))
        #expect(!before.closesAfterResponse)
        connections.beginDraining()
        let after = try #require(Self.admit(connections, "192.0.2.1"))
        #expect(before.closesAfterResponse && after.closesAfterResponse)
        #expect(!before.isEvicted)
        async let end: Void = connections.allClosed()
        connections.remove(before)
        #expect(!connections.isEmpty)
        connections.remove(after)
        await end
        #expect(connections.isEmpty)
    }
}
