package import CounterfoilProtocol
import Foundation
import HTTPTypes

/// A form that was submitted from a page of this server; forms from other origins are rejected unread.
package struct PageForm: Sendable {
    /// The maximum size in bytes of a form with a file: the largest logo upload and the other fields.
    static let uploadLimit = LogoEncoder.uploadLimit + 128 * 1024

    private let form: FormParameters
    private let upload: MultipartForm?

    package init(_ request: IncomingRequest, issuer: Issuer) throws(PageProblem) {
        guard Self.isSameOrigin(request.head.headerFields, issuer: issuer) else { throw .fromElsewhere }
        // The pages of an authorization contain its request, which is encoded twice.
        do {
            form = try request.readForm(byteLimit: Endpoint.consent.bodyLimit, pairLimit: 400)
        } catch {
            throw .unreadableForm(error)
        }
        upload = nil
    }

    /// Reads a form that may contain files.
    package init(
        uploading request: IncomingRequest,
        issuer: Issuer,
        byteLimit: Int = Self.uploadLimit
    ) throws(PageProblem) {
        guard Self.isSameOrigin(request.head.headerFields, issuer: issuer) else { throw .fromElsewhere }
        do {
            let upload = try MultipartForm(request, byteLimit: byteLimit)
            form = upload.fields
            self.upload = upload
        } catch { throw .unreadableForm(.upload(error)) }
    }

    /// Returns the value of a field; empty if it is absent.
    package func value(_ name: String) throws(PageProblem) -> String {
        do {
            return try form.single(name) ?? ""
        } catch {
            throw .unreadableForm(.parameters(error))
        }
    }

    /// Returns the bytes of a file; nil if the user chose none.
    package func file(_ name: String) throws(PageProblem) -> [UInt8]? {
        do {
            return try upload?.file(name)
        } catch {
            throw .unreadableForm(.upload(error))
        }
    }

    /// Returns all values of a field that may occur more than once.
    package func all(_ name: String) -> [String] { form.all(name) }

    /// Returns the authorization request that the page carries in its form.
    func carriedRequest() throws -> FormParameters {
        do { return try FormParameters(parsing: try value("request")) } catch let refusal as FormParameters.Refusal {
            throw ResponseTargetError.target(.parameters(refusal))
        }
    }

    @discardableResult
    func checkTicket(
        _ purpose: Ticket.Purpose,
        of holder: String,
        with tickets: TicketAuthority,
        now: Date
    ) throws(PageProblem) -> Ticket {
        let text = try value("ticket")
        let request = try value("request")
        do {
            return try tickets.check(text, purpose, of: holder, request: request, now: now)
        } catch { throw PageProblem(error) }
    }

    /// Returns whether the browser reports the same origin, or reports nothing.
    ///
    /// The pages of this server send no referrer, so some browsers send `Origin: null`. In that case, the
    /// ticket decides, because it is bound to a cookie.
    private static func isSameOrigin(_ fields: HTTPFields, issuer: Issuer) -> Bool {
        if let name = HTTPField.Name("Sec-Fetch-Site"), let site = fields[name] { return site == "same-origin" }
        guard let origin = fields[.origin], origin != "null" else { return true }
        return origin == issuer.origin
    }
}

/// The reason why a form is rejected, for a page.
package enum PageProblem: Error {
    case fromElsewhere
    case unreadableForm(UnreadableForm)
    case pageExpired
    case cookiesMissing
    case noDecision

    init(_ refusal: TicketAuthority.Refusal) {
        self =
            switch refusal {
            case .forged: .fromElsewhere
            case .expired: .pageExpired
            }
    }
}
