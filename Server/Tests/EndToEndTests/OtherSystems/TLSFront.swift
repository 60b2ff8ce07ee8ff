import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import TestSupport
import Testing

/// A reverse proxy that terminates TLS for `https://localhost:PORT` in front of a test server.
struct TLSFront: Sendable {
    /// The port of the proxy.
    let port: Int
    /// The path of the certificate authority file for the certificate of the proxy.
    let authority: String

    /// The host name and the port of the proxy.
    var host: String { "localhost:\(port)" }

    /// Runs the proxy to a local port until `body` returns.
    static func run<Result: Sendable>(
        to backend: Int, in folder: TemporaryDirectory, _ body: @Sendable (TLSFront) async throws -> Result
    ) async throws -> Result {
        let certificates = try Certificates(in: try folder.makeFolder("tls"))
        let context = try NIOSSLContext(configuration: try certificates.serverConfiguration)
        let group = MultiThreadedEventLoopGroup.singleton
        let server = try await ServerBootstrap(group: group)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in
                ClientBootstrap(group: channel.eventLoop)
                    .channelOption(.autoRead, value: false)
                    .connect(host: "127.0.0.1", port: backend)
                    .flatMap { other in
                        channel.eventLoop.makeCompletedFuture {
                            let (here, there) = (Glue(), Glue())
                            here.other = there
                            there.other = here
                            try channel.pipeline.syncOperations.addHandlers([
                                NIOSSLServerHandler(context: context), here,
                            ])
                            try other.pipeline.syncOperations.addHandler(there)
                            channel.setOption(.autoRead, value: true)
                                .and(other.setOption(.autoRead, value: true)).whenFailure { _ in
                                    channel.close(promise: nil)
                                }
                        }
                    }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let front = TLSFront(port: try #require(server.localAddress?.port), authority: certificates.authority)
        do {
            let result = try await body(front)
            try await server.close()
            return result
        } catch {
            try? await server.close()
            throw error
        }
    }
}

/// A handler that forwards the data of one channel to another of the same event loop.
private final class Glue: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    var other: Glue?
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        other = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        if let next = other?.context { next.writeAndFlush(wrapOutboundOut(bytes), promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        other?.context?.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// A certificate authority and its certificate for `localhost`, created with OpenSSL.
private struct Certificates {
    let authority: String
    private let folder: TemporaryDirectory

    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    init(in folder: TemporaryDirectory) throws {
        self.folder = folder
        authority = folder.path("authority.pem")
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try Self.openSSL(
            ["req", "-x509", "-days", "2", "-subj", "/CN=Authority of a test"] + curve
                + ["-keyout", folder.path("authority.key"), "-out", authority])
        try Self.openSSL(
            ["req", "-subj", "/CN=localhost"] + curve
                + ["-keyout", folder.path("site.key"), "-out", folder.path("site.csr")])
        try Data("subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n".utf8)
            .write(to: URL(fileURLWithPath: folder.path("site.ext")))
        try Self.openSSL([
            "x509", "-req", "-days", "2", "-in", folder.path("site.csr"), "-CA", authority, "-CAkey",
            folder.path("authority.key"), "-CAcreateserial", "-extfile", folder.path("site.ext"), "-out",
            folder.path("site.pem"),
        ])
    }

    var serverConfiguration: TLSConfiguration {
        get throws {
            TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(folder.path("site.pem")).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: folder.path("site.key"), format: .pem)))
        }
    }

    private static func openSSL(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failed(description: "openssl \(arguments[0]) ended with \(process.terminationStatus)")
        }
    }
}
