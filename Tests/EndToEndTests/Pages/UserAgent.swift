import AsyncHTTPClient
import CounterfoilProtocol
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOSSL

/// A browser without a screen: it keeps cookies, follows redirects, and sends forms as Chromium does.
struct UserAgent: Sendable {
    /// The cookies by host; a port does not separate them (RFC 6265 §8.5).
    private var cookies: [String: [String: String]] = [:]

    private let client: HTTPClient

    private static let verifying = HTTPClient(
        eventLoopGroupProvider: .singleton, configuration: .init(redirectConfiguration: .disallow))
    private static let unverifying: HTTPClient = {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.tlsConfiguration = tls
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// A browser that has never been anywhere; one that takes any certificate is for a proxy of the test.
    init(verifiesCertificates: Bool = true) {
        client = verifiesCertificates ? Self.verifying : Self.unverifying
    }

    /// Opens an address and follows redirects.
    mutating func open(_ url: String) async throws -> WebPage {
        var page = try await send(.get, url)
        for _ in 0..<5 {
            guard let next = page.redirection else { break }
            page = try await send(.get, next)
        }
        return page
    }

    /// Sends a form with what the person has typed and pressed, and follows redirects.
    mutating func submit(_ form: WebForm, _ typed: [String: String]) async throws -> WebPage {
        let page = try await post(form, typed)
        guard let next = page.redirection else { return page }
        return try await open(next)
    }

    /// Sends a form and follows nothing.
    mutating func post(_ form: WebForm, _ typed: [String: String]) async throws -> WebPage {
        var fields = FormParameters()
        for (name, value) in form.hidden { fields.append(name, value) }
        for (name, value) in typed { fields.append(name, value) }
        // A page without referrer makes Chromium hide the origin.
        let headers = ["origin": "null", "sec-fetch-site": "same-origin"]
        return try await send(.post, form.action, headers: headers, form: fields)
    }

    /// Goes where a page goes on by itself.
    mutating func goOn(from page: WebPage) async throws -> WebPage {
        guard let address = page.goesOnTo else {
            throw WebPage.Unexpected(
                description: "the page \(page.status) “\(page.heading ?? "")” leads nowhere: \(page.text)")
        }
        return try await open(address)
    }

    /// Sends one request and follows nothing.
    mutating func send(
        _ method: HTTPRequest.Method, _ url: String, headers: [String: String] = [:], form: FormParameters
    ) async throws -> WebPage {
        var headers = headers
        headers["content-type"] = "application/x-www-form-urlencoded"
        return try await send(method, url, headers: headers, body: Array(form.encoded.utf8))
    }

    /// Sends one request and follows nothing.
    mutating func send(
        _ method: HTTPRequest.Method, _ url: String, headers: [String: String] = [:], body: [UInt8] = []
    ) async throws -> WebPage {
        let host = URL(string: url)?.host ?? ""
        var request = HTTPClientRequest(url: url)
        request.method = HTTPMethod(rawValue: method.rawValue)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        let sent = (cookies[host] ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        if !sent.isEmpty { request.headers.add(name: "cookie", value: sent.joined(separator: "; ")) }
        if !body.isEmpty { request.body = .bytes(body) }
        let response = try await client.execute(request, timeout: .seconds(60))
        let text = String(buffer: try await response.body.collect(upTo: 4 << 20))
        for cookie in response.headers["set-cookie"] { keep(cookie, of: host) }
        let headers = response.headers.map { (name: $0.name.lowercased(), value: $0.value) }
        return WebPage(url: url, status: Int(response.status.code), headers: headers, body: text)
    }

    private mutating func keep(_ cookie: String, of host: String) {
        let parts = cookie.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
        let pair = parts[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard pair.count == 2 else { return }
        let isOver = parts.contains("Max-Age=0")
        cookies[host, default: [:]][pair[0]] = isOver ? nil : pair[1]
    }
}
