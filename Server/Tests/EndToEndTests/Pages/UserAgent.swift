import AsyncHTTPClient
import CounterfoilProtocol
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOSSL

/// A browser without a display: it keeps cookies, follows redirects, and sends forms as Chromium does.
struct UserAgent: Sendable {
    /// The cookies by host; cookies are shared between ports (RFC 6265 §8.5).
    private var cookies: [String: [String: String]] = [:]

    /// The header fields that a proxy adds to each request.
    var added: [String: String] = [:]

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

    /// Creates a browser without cookies; it can accept any certificate, for the proxy of a test.
    init(verifiesCertificates: Bool = true) {
        client = verifiesCertificates ? Self.verifying : Self.unverifying
    }

    /// Opens a URL and follows redirects.
    mutating func open(_ url: String) async throws -> WebPage {
        var page = try await send(.get, url)
        for _ in 0..<5 {
            guard let next = page.redirection else { break }
            page = try await send(.get, next)
        }
        return page
    }

    /// Submits a form with the user's input, and follows redirects.
    mutating func submit(_ form: WebForm, _ typed: [String: String]) async throws -> WebPage {
        let page = try await post(form, typed)
        guard let next = page.redirection else { return page }
        return try await open(next)
    }

    /// Submits a form without following redirects.
    mutating func post(_ form: WebForm, _ typed: [String: String]) async throws -> WebPage {
        var fields = FormParameters()
        for (name, value) in form.hidden { fields.append(name, value) }
        for (name, value) in typed { fields.append(name, value) }
        // With the referrer policy no-referrer, Chromium sends the origin null.
        let headers = ["origin": "null", "sec-fetch-site": "same-origin"]
        return try await send(.post, form.action, headers: headers, form: fields)
    }

    /// Opens the URL to which a page continues automatically.
    mutating func proceed(from page: WebPage) async throws -> WebPage {
        guard let address = page.continuationURL else {
            throw WebPage.Unexpected(
                description: "the page \(page.status) “\(page.heading ?? "")” leads nowhere: \(page.text)")
        }
        return try await open(address)
    }

    /// Sends a request without following redirects.
    mutating func send(
        _ method: HTTPRequest.Method, _ url: String, headers: [String: String] = [:], form: FormParameters
    ) async throws -> WebPage {
        var headers = headers
        headers["content-type"] = "application/x-www-form-urlencoded"
        return try await send(method, url, headers: headers, body: Array(form.encoded.utf8))
    }

    /// Sends a request without following redirects.
    mutating func send(
        _ method: HTTPRequest.Method, _ url: String, headers: [String: String] = [:], body: [UInt8] = []
    ) async throws -> WebPage {
        let host = URL(string: url)?.host ?? ""
        var request = HTTPClientRequest(url: url)
        request.method = HTTPMethod(rawValue: method.rawValue)
        for (name, value) in headers.merging(added, uniquingKeysWith: { given, _ in given }) {
            request.headers.add(name: name, value: value)
        }
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
