import CounterfoilProtocol
import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import TestSupport
import Testing

/// Clients that open as many connections as they can; clients with other IP addresses are still served.
@Suite(.timeLimit(.minutes(10)))
struct ConnectionFloodTests {
    private static let health = "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"

    /// Opens silent connections from an IP address until `body` returns.
    private static func holdSilent(
        _ count: Int, from source: String, port: Int, _ body: ([any Channel]) async throws -> Void
    ) async throws {
        var channels: [any Channel] = []
        let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(to: try SocketAddress(ipAddress: source, port: 0))
            .connectTimeout(.seconds(5))
        for _ in 0..<count {
            guard let channel = try? await bootstrap.connect(host: "127.0.0.1", port: port).get() else { continue }
            channels.append(channel)
        }
        do { try await body(channels) } catch {
            for channel in channels { try? await channel.close() }
            throw error
        }
        for channel in channels { try? await channel.close() }
    }

    private static func answersHealth(_ site: Site, from source: String) async throws {
        let answer = try await RawConnection.exchange(health, port: site.port, from: source)
        #expect(RawConnection.status(of: answer) == 200)
    }

    // 256 descriptors are fewer than the connections that one IP address opens here.
    @Test func `an address with more connections than the server has descriptors delays no other address`()
        async throws
    {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient()
            let options = ["--metrics-listen", "127.0.0.1:0"]
            let server = try await site.start(options: options, descriptorLimit: 320)
            try await server.whileRunning {
                #expect(server.errors.contains("lowered the connection limit"))
                try await Self.holdSilent(300, from: "127.0.0.2", port: site.port) { silent in
                    try await Self.answersHealth(site, from: "127.0.0.3")
                    #expect(silent.contains { $0.isActive }, "the answer came after the end of the silent ones")
                    let request = ClientAuthorizationRequest(site, clientID)
                    var browser = UserAgent()
                    let page = try await Account.alice.answer("allow", at: request.url, in: &browser)
                    #expect(try await request.redeem(try page.code).status == 200)
                    try await site.expectAlive()
                }
                #expect(server.errors.contains("refused connections"))
                #expect(server.errors.contains("source=127.0.0.2"))
                let metrics = try await server.said("where metrics are") { program in
                    program.errors.firstMatch(of: /Metrics are at (\S+)\./).map { String($0.output.1) }
                }
                var agent = UserAgent()
                let text = try await agent.open(metrics).body
                let refused = text.firstMatch(of: /counterfoil_connections_refused_total\{reason="source"\} (\d+)/)
                #expect(try #require(refused.flatMap { Int($0.output.1) }) > 200)
            }
        }
    }

    @Test func `when all connections are taken, the one that has been silent for longest is evicted`() async throws {
        try await Site.make { site in
            try await site.start(options: ["--connections", "40"]).whileRunning {
                let port = site.port
                try await Self.holdSilent(20, from: "127.0.0.2", port: port) { first in
                    try await Self.holdSilent(20, from: "127.0.0.3", port: port) { second in
                        try await Self.answersHealth(site, from: "127.0.0.4")
                        _ = try await Waiting.until("the end of the first connection") {
                            first.contains { !$0.isActive } ? true : nil
                        }
                        #expect(!second.contains { !$0.isActive })
                        for _ in 0..<50 { try await Self.answersHealth(site, from: "127.0.0.5") }
                    }
                }
            }
        }
    }

    @Test func `an active connection outlives many silent ones`() async throws {
        try await Site.make { site in
            try await site.start(options: ["--connections", "40"]).whileRunning {
                let port = site.port
                let health = "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
                let answers = try await RawConnection.run(port: port, from: "127.0.0.9") { connection in
                    try await connection.send(health)
                    _ = try await connection.receive(until: "alive")
                    try await Self.holdSilent(20, from: "127.0.0.2", port: port) { _ in
                        try await Self.holdSilent(20, from: "127.0.0.3", port: port) { _ in
                            try await Self.holdSilent(20, from: "127.0.0.4", port: port) { _ in }
                        }
                    }
                    try await connection.send(Self.health)
                    return try await connection.everything()
                }
                #expect(answers.components(separatedBy: "HTTP/1.1 200").count == 3)
            }
        }
    }

    // 256 descriptors are fewer than 300 connections, and the server may raise the limit.
    @Test func `a server raises its limit of open files for its connections`() async throws {
        try await Site.make { site in
            let server = try await site.start(options: ["--connections", "300"], softDescriptorLimit: 256)
            try await server.whileRunning {
                let port = site.port
                try await Self.holdSilent(32, from: "127.0.0.2", port: port) { channels in
                    #expect(channels.count == 32)
                    try await Self.answersHealth(site, from: "127.0.0.3")
                }
                #expect(!server.errors.contains("lowered the connection limit"))
            }
        }
    }

    @Test func `a server with too low a limit of open files reports it and does not start`() async throws {
        try await Site.make { site in
            let arguments = ["serve", "--data-dir", site.dataDirectory, "--issuer", site.issuer, "--listen"]
            let ended = try await RunningProgram(
                .server, arguments + ["127.0.0.1:\(site.port)"], descriptorLimit: 100, in: site.folder
            ).ended()
            #expect(ended.status == 3)
            #expect(ended.errors.contains("ulimit -n"))
        }
    }
}
