import AsyncHTTPClient
package import CounterfoilProtocol
package import CounterfoilServer
@_spi(Counterfoil) package import CounterfoilTokens
package import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOTLS
import SwiftASN1
import X509

/// Reads the metadata and the certificate of a server at its issuer, as a client does.
///
/// The operator names the issuer, so any address is allowed.
package struct IssuerProbe: Sendable {
    /// The parts of the metadata that can be compared.
    package struct Found: Sendable {
        /// The member `issuer` (RFC 8414 §2).
        package let issuer: String
        /// The `kid` of each key of the JWK set.
        package let keys: Set<String>
        /// An endpoint in the metadata that is not at the origin of the issuer; nil if there is none.
        package let foreignEndpoint: String?
        /// The members of the metadata.
        package let members: [String: JSONValue]
        /// The time of the response (RFC 9110 §6.6.1); nil without `Date`.
        package let date: Date?

        package init(
            issuer: String, keys: Set<String>, foreignEndpoint: String?, members: [String: JSONValue], date: Date?
        ) {
            self.issuer = issuer
            self.keys = keys
            self.foreignEndpoint = foreignEndpoint
            self.members = members
            self.date = date
        }
    }

    /// A response that cannot be used.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let issuer: Issuer
    private let authorities: OutboundAuthorities

    /// The maximum size of a response in bytes.
    private static let limit = 256 << 10
    private static let timeout = TimeAmount.seconds(10)

    package init(_ issuer: Issuer, trusting authorities: OutboundAuthorities) {
        self.issuer = issuer
        self.authorities = authorities
    }

    /// Fetches the metadata (OpenID Connect Discovery §4) and the JWK set that it names.
    package func metadata() async throws(Failure) -> Found {
        let (members, date) = try await object(at: issuer.rawValue + "/.well-known/openid-configuration")
        let names = ["authorization_endpoint", "token_endpoint", "jwks_uri"]
        let endpoints = names.compactMap { members.text($0) }
        guard let named = members.text("issuer"), let keySetURI = members.text("jwks_uri"),
            endpoints.count == names.count
        else { throw Failure(description: "the response at \(issuer) is no metadata") }
        let foreign = endpoints.first { !$0.hasPrefix(issuer.origin + "/") }
        let keys = foreign == nil ? try await keyIdentifiers(at: keySetURI) : []
        return Found(issuer: named, keys: keys, foreignEndpoint: foreign, members: members, date: date)
    }

    private func keyIdentifiers(at url: String) async throws(Failure) -> Set<String> {
        guard case .array(let keys)? = try await object(at: url).members["keys"] else {
            throw Failure(description: "the response at \(url) is no key set")
        }
        return Set(
            keys.compactMap { key in
                guard case .object(let members) = key else { return nil }
                return members.text("kid")
            })
    }

    private func object(at url: String) async throws(Failure) -> (members: [String: JSONValue], date: Date?) {
        let (body, date) = try await Self.get(url, trusting: authorities)
        guard let members = try? JSONReader.object(Array(body)) else {
            throw Failure(description: "the response at \(url) is no metadata or key set")
        }
        return (members, date)
    }

    /// Asks the server from which address the request of this machine comes; nil if it does not say.
    ///
    /// - Parameter forwarding: A field as a proxy sends it, with which a client could try to choose its address; nil
    ///   for none.
    package func address(
        proof: String, forwarding forged: (name: String, value: String)? = nil
    ) async throws(Failure) -> AddressCheck.Answer? {
        let fields = [(AddressCheck.field, proof)] + (forged.map { [($0.name, $0.value)] } ?? [])
        let (body, _) = try await Self.get(issuer.rawValue + "/livez", adding: fields, trusting: authorities)
        return (try? JSONReader.object(Array(body))).flatMap(AddressCheck.Answer.init)
    }

    /// Returns the time in the response of a web server; nil if it has none.
    package static func time(
        of url: String, trusting authorities: OutboundAuthorities
    ) async throws(Failure) -> Date? {
        try await get(url, trusting: authorities, anyStatus: true).date
    }

    private static func get(
        _ url: String, adding fields: [(String, String)] = [], trusting authorities: OutboundAuthorities,
        anyStatus: Bool = false
    ) async throws(Failure) -> (body: Data, date: Date?) {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.tlsConfiguration = authorities.tls
        configuration.timeout = .init(connect: timeout)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<(body: Data, date: Date?), any Error>
        do {
            var request = HTTPClientRequest(url: url)
            request.headers.add(name: "Accept", value: "application/json")
            request.headers.add(name: "User-Agent", value: "Counterfoil")
            request.headers.add(contentsOf: HTTPHeaders(fields))
            let response = try await client.execute(request, timeout: timeout)
            let date = response.headers.first(name: "date").flatMap(date)
            if anyStatus {
                result = .success((Data(), date))
            } else {
                guard response.status == .ok else {
                    throw Failure(description: "status \(response.status.code) at \(url)")
                }
                result = .success((Data(try await response.body.collect(upTo: limit).readableBytesView), date))
            }
        } catch {
            result = .failure(error)
        }
        try? await client.shutdown()
        do { return try result.get() } catch let failure as Failure { throw failure } catch {
            throw Failure(description: "no response from \(url) (\(ConnectionFault(error)))")
        }
    }

    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return formatter.date(from: text)
    }

    /// Returns the validity of the certificate, which a TLS handshake must accept for the host.
    package func certificateValidity() async throws(Failure) -> DateInterval {
        guard let url = URL(string: issuer.rawValue), let host = url.host else {
            throw Failure(description: "the issuer has no host")
        }
        do {
            let context = try NIOSSLContext(configuration: authorities.tls)
            // An IPv6 address is in brackets in a URL, and not in a connection.
            let name = host.trimmingCharacters(in: ["[", "]"])
            let isAddress = (try? SocketAddress(ipAddress: name, port: 0)) != nil
            let group = MultiThreadedEventLoopGroup.singleton
            let promise = group.next().makePromise(of: [UInt8].self)
            let channel: any Channel
            do {
                channel = try await ClientBootstrap(group: group)
                    .connectTimeout(Self.timeout)
                    .channelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.pipeline.syncOperations.addHandlers(
                                try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : name),
                                PeerCertificateHandler(promise))
                        }
                    }
                    .connect(host: name, port: url.port ?? 443).get()
            } catch {
                promise.fail(error)
                throw error
            }
            let timer = channel.eventLoop.scheduleTask(in: Self.timeout) {
                promise.fail(Failure(description: "no answer within 10 s"))
            }
            let result: Result<[UInt8], any Error>
            do { result = .success(try await promise.futureResult.get()) } catch { result = .failure(error) }
            timer.cancel()
            try? await channel.close()
            let certificate = try Certificate(derEncoded: try result.get())
            let (start, end) = (certificate.notValidBefore, certificate.notValidAfter)
            return DateInterval(start: min(start, end), end: end)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(description: "\(ConnectionFault(error))")
        }
    }
}

/// Passes on the certificate of the server after the handshake.
private final class PeerCertificateHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let promise: EventLoopPromise<[UInt8]>

    init(_ promise: EventLoopPromise<[UInt8]>) { self.promise = promise }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event {
            promise.completeWith(
                Result {
                    let handler = try context.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self)
                    guard let certificate = handler.peerCertificate else { throw NIOSSLError.noCertificateToValidate }
                    return try certificate.toDERBytes()
                })
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(ChannelError.eof)
        context.fireChannelInactive()
    }
}

extension [String: JSONValue] {
    fileprivate func text(_ name: String) -> String? {
        guard case .string(let text)? = self[name] else { return nil }
        return text
    }
}
