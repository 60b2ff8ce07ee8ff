@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServerTesting
import CounterfoilStore
import Crypto
import Foundation
import HTTPTypes
import Testing

@testable import CounterfoilServer

/// Page forms with a logo.
struct UploadFormTests {
    private static func request(_ fields: HTTPFields = [:], body: String? = nil) throws -> IncomingRequest {
        var head = HTTPRequest(method: .post, scheme: "https", authority: "id.example.com", path: "/apps/new")
        head.headerFields = fields
        head.headerFields[.contentType] = "multipart/form-data; boundary=b"
        let body =
            body ?? """
                --b\r
                Content-Disposition: form-data; name="ticket"\r
                \r
                abc\r
                --b\r
                Content-Disposition: form-data; name="logo"; filename="logo.png"\r
                \r
                picture\r
                --b--\r

                """
        return IncomingRequest(head: head, body: Array(body.utf8), source: "192.0.2.1", id: "test")
    }

    private static func issuer() throws -> Issuer { try Issuer("https://id.example.com") }

    @Test func `a page form can contain a file beside its fields`() throws {
        let form = try PageForm(uploading: Self.request(), issuer: Self.issuer())
        #expect(try form.value("ticket") == "abc")
        #expect(try form.value("absent").isEmpty)
        #expect(try form.file("logo") == Array("picture".utf8))
        #expect(try form.file("absent") == nil)
    }

    @Test(arguments: [
        ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"), ("Origin", "https://evil.example"),
    ])
    func `an upload from another site is refused before it is parsed`(name: String, value: String) throws {
        let request = try Self.request([HTTPField.Name.named(name): value], body: "not even a form")
        do {
            _ = try PageForm(uploading: request, issuer: Self.issuer())
            Issue.record("it was taken")
        } catch PageProblem.fromElsewhere {}
    }

    @Test func `an invalid form is refused with the reason`() throws {
        do {
            _ = try PageForm(uploading: Self.request(body: "--c--"), issuer: Self.issuer())
            Issue.record("it was taken")
        } catch PageProblem.unreadableForm(let form) {
            #expect(form == .upload(.badStructure))
            #expect("\(form)" == "the parts of the form are not correctly separated")
        }
    }

    @Test func `a form has the size limit of its page`() throws {
        do {
            _ = try PageForm(uploading: Self.request(), issuer: Self.issuer(), byteLimit: 20)
            Issue.record("it was taken")
        } catch PageProblem.unreadableForm(let form) {
            #expect(form == .upload(.tooLong(limit: 20)))
        }
    }

    @Test func `the anti-CSRF token of an upload is checked as in every form`() throws {
        let tickets = TicketAuthority(keys: DerivedKeys(SymmetricKey(size: .bits256)))
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let ticket = tickets.issue(
            .console, to: "browser", request: "", interaction: InteractionIdentifier(random: RandomBytes()),
            expires: now.addingTimeInterval(60))
        let body = "--b\r\nContent-Disposition: form-data; name=ticket\r\n\r\n\(ticket)\r\n--b--"
        let form = try PageForm(uploading: Self.request(body: body), issuer: Self.issuer())
        try form.checkTicket(.console, of: "browser", with: tickets, again: "/", now: now)
        do {
            try form.checkTicket(.console, of: "another browser", with: tickets, again: "/", now: now)
            Issue.record("it was taken")
        } catch PageProblem.pageOutdated {}
    }
}
