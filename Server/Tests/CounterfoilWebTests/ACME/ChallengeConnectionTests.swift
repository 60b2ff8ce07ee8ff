import ACMEClient
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import SwiftASN1
import TestSupport
import Testing
import X509

@testable import CounterfoilWeb
@testable import HTTPListener

@Suite("ACME: connections of an authority")
struct ChallengeConnectionTests {
    /// A listener with the handler, and the plain text that it gets.
    private static func withListener(
        _ certificate: CurrentCertificate, _ test: (Int) async throws -> Void
    ) async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let validation = certificate.validation else { return }
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(ClientHelloHandler(certificate, validation: validation))
                    try pipeline.addHandler(Echo())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do { try await test(channel.localAddress?.port ?? 0) } catch {
            try? await channel.close()
            throw error
        }
        try await channel.close()
    }

    private final class Echo: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            context.writeAndFlush(data, promise: nil)
        }
    }

    /// The parts of a connection that a client sees.
    private struct Seen: Sendable, Equatable {
        var protocolName: String?
        var certificate: [UInt8] = []
        /// Whether the server sent back what the client sent.
        var isEchoed = false
    }

    private final class Client: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        var seen = Seen()
        let end: EventLoopPromise<Seen>

        init(_ end: EventLoopPromise<Seen>) { self.end = end }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard let event = event as? TLSUserEvent, case .handshakeCompleted(let name) = event else { return }
            seen.protocolName = name
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "hello")), promise: nil)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            seen.isEchoed = true
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { end.succeed(seen) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// A connection that has not reached the handshake.
    private struct NotConnected: Error {}

    private static func connect(
        to port: Int, host: String, protocols: [String], verifying: Bool = false
    ) async throws -> Seen {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.applicationProtocols = protocols
        if !verifying { configuration.certificateVerification = .noHostnameVerification }
        let context = try NIOSSLContext(configuration: configuration)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let end = loop.makePromise(of: Seen.self)
        let found = loop.makePromise(of: [UInt8].self)
        let channel = try await ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if verifying {
                        try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: host))
                        try pipeline.addHandler(Client(end))
                        return
                    }
                    try pipeline.addHandler(
                        NIOSSLClientHandler(
                            context: context, serverHostname: host,
                            customVerificationCallback: { certificates, verdict in
                                found.succeed((try? certificates.first?.toDERBytes()) ?? [])
                                verdict.succeed(.certificateVerified)
                            }))
                    try pipeline.addHandler(Client(end))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        channel.closeFuture.whenComplete { _ in found.succeed([]) }
        var seen = try await end.futureResult.get()
        if verifying, seen.protocolName == nil { throw NotConnected() }
        seen.certificate = try await found.futureResult.get()
        return seen
    }

    // RFC 8737 §3: until there is a certificate, clients get one that they refuse
    @Test func `a challenge is answered for its host and protocol only, while it is pending`() async throws {
        let store = TestStore()
        let challenges = PendingChallenges(store)
        let current = OrderedCertificate(answering: challenges).current
        try await Self.withListener(current) { port in
            func connect(_ host: String, _ protocols: [String]) async throws -> Seen {
                try await Self.connect(to: port, host: host, protocols: protocols)
            }
            // Without a certificate, clients get one that they refuse.
            let early = try await connect("id.example.com", ["http/1.1"])
            #expect(early.isEchoed)
            let provisional = try Certificate(derEncoded: early.certificate)
            #expect(provisional.issuer == provisional.subject)
            #expect(try provisional.extensions.subjectAlternativeNames == nil)
            #expect(try await connect("id.example.com", ["http/1.1"]).certificate == early.certificate)
            #expect(current.snapshot.expires == nil)
            #expect(current.isProvisional)
            await #expect(throws: (any Error).self) {
                try await Self.connect(to: port, host: "id.example.com", protocols: ["http/1.1"], verifying: true)
            }
            #expect(try await connect("id.example.com", ["acme-tls/1"]) == Seen())
            #expect(
                try await store.takeOrderLease(challenges.holder, until: store.now() + 60, at: store.now()))
            try await challenges.publish(
                [
                    PublishedChallenge(
                        type: "tls-alpn-01", host: "id.example.com", token: "token",
                        keyAuthorization: "token.thumbprint")
                ], lasting: 60)
            let answer = try await connect("id.example.com", ["acme-tls/1"])
            #expect(answer.protocolName == "acme-tls/1")
            #expect(!answer.isEchoed)
            let certificate = try Certificate(derEncoded: answer.certificate)
            let identifier = try ChallengeCertificate.identifier(of: "token.thumbprint")
            #expect(certificate.extensions[oid: identifier.oid] == identifier)
            #expect(try await connect("other.example.com", ["acme-tls/1"]) == Seen())
            let browser = try await connect("id.example.com", ["acme-tls/1", "http/1.1"])
            #expect(browser == Seen(protocolName: "http/1.1", certificate: early.certificate, isEchoed: true))

            let issued = try TestAuthority().issue(for: ["id.example.com"])
            current.replace(
                by: try await ServerCertificate(
                    chain: issued.certificate, key: issued.key, hosts: ["id.example.com"], at: Date()))
            let usual = try await connect("id.example.com", ["http/1.1"])
            #expect(usual.isEchoed)
            #expect(usual.protocolName == "http/1.1")
            #expect(usual.certificate != early.certificate)
            #expect(!current.isProvisional)
            #expect(try await connect("id.example.com", ["acme-tls/1"]).protocolName == "acme-tls/1")
            await challenges.withdraw()
            #expect(try await connect("id.example.com", ["acme-tls/1"]) == Seen())
            #expect(try await connect("id.example.com", ["http/1.1"]).isEchoed)
        }
    }
}
