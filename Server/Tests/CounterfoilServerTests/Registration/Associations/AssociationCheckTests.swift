import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

/// The check of association files at other hosts (RFC 8252 §7.2).
struct AssociationCheckTests {
    private static let fingerprint =
        "14:6D:E9:83:C5:73:06:50:D8:EE:B9:95:2F:34:FC:64:16:A0:83:42:E6:1D:BE:A8:8A:04:96:B2:3F:CF:44:E5"

    private static func apple() throws -> AssociationCheck.App {
        .apple(try #require(AppleApp("ABCDE12345.com.example.app")))
    }

    private static func android() throws -> AssociationCheck.App {
        .android(try #require(AndroidApp("com.example.app:\(fingerprint)")))
    }

    private static func fetched(
        _ body: String, type: String? = "application/json", status: Int = 200
    ) -> AssociationFetch {
        .answered(status: status, contentType: type, body: Array(body.utf8))
    }

    // RFC 8252 §7.2.
    @Test(arguments: [
        (
            #"{"applinks":{"details":[{"appIDs":["X.y","ABCDE12345.com.example.app"],"components":[{"/":"/cb"}]}]}}"#,
            AssociationVerdict.namesTheApp
        ),
        (
            #"{"applinks":{"apps":[],"details":[{"appID":"ABCDE12345.com.example.app","paths":["/cb","NOT /x"]}]}}"#,
            .namesTheApp
        ),
        (#"{"applinks":{"details":{"ABCDE12345.com.example.app":{"paths":["*"]}}}}"#, .namesTheApp),
        (
            #"{"webcredentials":7,"applinks":{"details":[{"appIDs":["a"]},{"appIDs":["ABCDE12345.com.example.app"],"components":[{}]}]}}"#,
            .namesTheApp
        ),
        (#"{"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.app"]}]}}"#, .namesNoPaths),
        (#"{"applinks":{"details":[{"appID":"ABCDE12345.com.example.app","paths":[]}]}}"#, .namesNoPaths),
        (
            #"{"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.app2","abcde12345.com.example.app"],"paths":["*"]}]}}"#,
            .namesOtherApps
        ),
        (#"{"applinks":{"details":[{"appIDs":["*","ABCDE12345.*"],"paths":["*"]}]}}"#, .namesOtherApps),
        (#"{"applinks":{"details":[]}}"#, .namesOtherApps),
        (#"{"webcredentials":{"apps":["ABCDE12345.com.example.app"]}}"#, .notAnAssociationFile),
        (#"{"applinks":{"details":[{"appIDs":"ABCDE12345.com.example.app"}]}}"#, .notAnAssociationFile),
        (#"{"applinks":"ABCDE12345.com.example.app"}"#, .notAnAssociationFile),
        (#"["ABCDE12345.com.example.app"]"#, .notAnAssociationFile), ("7", .notAnAssociationFile),
        ("", .notJSON), ("<!doctype html>", .notJSON), (#"{"applinks":{"details":[}}"#, .notJSON),
        (String(repeating: "[", count: 100_000), .notJSON),
    ])
    func `an Apple association file names the app, or the verdict says what is missing`(
        body: String, verdict: AssociationVerdict
    ) throws {
        #expect(AssociationCheck.verdict(on: try Self.apple(), from: Self.fetched(body)) == verdict)
    }

    private static func statement(
        relation: String = "delegate_permission/common.handle_all_urls", namespace: String = "android_app",
        package: String = "com.example.app", fingerprints: String = "\"\(fingerprint)\""
    ) -> String {
        #"{"relation":["\#(relation)"],"target":{"namespace":"\#(namespace)","package_name":"\#(package)","#
            + #""sha256_cert_fingerprints":[\#(fingerprints)]}}"#
    }

    // RFC 8252 §7.2.
    @Test(arguments: [
        (statement(), AssociationVerdict.namesTheApp),
        (statement(package: "com.example.other") + "," + statement(), .namesTheApp),
        (statement(fingerprints: "\"00\",\"\(fingerprint.lowercased())\""), .namesTheApp),
        (#"{"relation":["r"],"target":{"namespace":"web","site":"https://a.example"}},"# + statement(), .namesTheApp),
        (statement(relation: "delegate_permission/common.get_login_creds"), .namesNoLinks),
        (statement(fingerprints: ""), .namesOtherCertificates),
        (statement(fingerprints: "\"AA" + fingerprint.dropFirst(2) + "\""), .namesOtherCertificates),
        (statement(package: "com.example.app2"), .namesOtherApps),
        (statement(namespace: "web"), .namesOtherApps), ("", .namesOtherApps),
        (#"{"include":"https://a.example/statements.json"}"#, .namesOtherApps),
        (#"{"relation":"delegate_permission/common.handle_all_urls"}"#, .notAnAssociationFile),
        ("7", .notAnAssociationFile),
        ("{", .notJSON),
    ])
    func `an Android association file names the app, or the verdict says what is missing`(
        statements: String, verdict: AssociationVerdict
    ) throws {
        #expect(AssociationCheck.verdict(on: try Self.android(), from: Self.fetched("[\(statements)]")) == verdict)
    }

    // Neither system follows redirects or accepts another content type.
    @Test func `a response that the systems would reject has a verdict of its own`() throws {
        let app = try Self.apple()
        func verdict(_ fetch: AssociationFetch) -> AssociationVerdict { AssociationCheck.verdict(on: app, from: fetch) }
        #expect(verdict(Self.fetched("{}", type: "text/html; charset=utf-8")) == .otherContentType)
        #expect(verdict(Self.fetched("{}", type: nil)) == .otherContentType)
        #expect(verdict(Self.fetched("{}", type: "application/json; charset=\"utf-8\"")) == .notAnAssociationFile)
        #expect(verdict(Self.fetched("{}", type: "APPLICATION/JSON")) == .notAnAssociationFile)
        #expect(verdict(Self.fetched("", status: 301)) == .redirects)
        #expect(verdict(Self.fetched("", status: 308)) == .redirects)
        #expect(verdict(Self.fetched("", status: 404)) == .notFound)
        #expect(verdict(Self.fetched("", status: 410)) == .notFound)
        #expect(verdict(Self.fetched("", status: 503)) == .otherStatus(503))
        #expect(verdict(.failed(.notPublic)) == .notFetched(.notPublic))
        let large = Self.fetched(String(repeating: " ", count: AssociationCheck.byteLimit + 1))
        #expect(verdict(large) == .notFetched(.tooLarge))
    }

    /// A fetcher that serves one file.
    private struct OneFile: AssociationFetcher {
        let url: String
        let body: String

        func fetch(_ url: AbsoluteURI, for request: RequestContext?) async -> AssociationFetch {
            url.rawValue == self.url ? fetched(body) : .failed(.unknownHost)
        }
    }

    // RFC 8252 §7.2.
    @Test func `the file is fetched from the host of the redirect URI`() async throws {
        let check = AssociationCheck(
            fetcher: OneFile(
                url: "https://app.example.com/.well-known/assetlinks.json", body: "[\(Self.statement())]"), for: nil)
        let app = try Self.android()
        for uri in ["https://app.example.com/cb", "https://APP.example.com/", "https://app.example.com:443/cb?a=b"] {
            #expect(await check.verdict(on: app, at: try RedirectURI(uri)) == .namesTheApp)
        }
        #expect(await check.verdict(on: app, at: try RedirectURI("https://b.example/cb")) == .notFetched(.unknownHost))
        let otherPort = try RedirectURI("https://app.example.com:8443/cb")
        #expect(await check.verdict(on: app, at: otherPort) == .notFetched(.unsuitableURL))
        #expect(await check.verdict(on: app, at: try RedirectURI("com.example.app:/cb")) == nil)
        #expect(await check.verdict(on: app, at: try RedirectURI("http://127.0.0.1/cb")) == nil)
    }

    // Otherwise a developer could look up the names of a private network.
    @Test(arguments: Language.allCases)
    func `a developer cannot tell a private network from an unknown host`(language: Language) {
        let words = Localizer(language)
        let said = [AssociationFetch.Failure.notPublic, .unknownHost].map { words(AssociationVerdict.notFetched($0)) }
        #expect(said[0] == said[1])
    }

    @Test func `every verdict names the result and the next step`() {
        let failures: [AssociationFetch.Failure] = [
            .unsuitableURL, .unknownHost, .notPublic, .unreachable, .untrusted, .timedOut, .tooLarge, .busy,
        ]
        let verdicts: [AssociationVerdict] = [
            .namesTheApp, .namesNoPaths, .namesNoLinks, .namesOtherCertificates, .namesOtherApps, .notAnAssociationFile,
            .notJSON, .otherContentType, .redirects, .notFound, .otherStatus(503),
        ]
        let said = (verdicts + failures.map(AssociationVerdict.notFetched)).map { Localizer.english($0.text) }
        // A private network and an unknown host have one text.
        #expect(Set(said).count == verdicts.count + failures.count - 1)
        #expect(said.allSatisfy { $0.hasSuffix(".") && !$0.hasPrefix("association.") && !$0.contains("{") })
        #expect(verdicts.filter(\.isGood) == [.namesTheApp])
    }
}
