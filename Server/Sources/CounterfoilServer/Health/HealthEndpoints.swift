@_spi(Counterfoil) import CounterfoilProtocol
import HTTPTypes

/// The health checks, the root path, and the well-known URLs of the pages for passwords and passkeys.
///
/// - `/livez` reports liveness: it succeeds as long as the process answers. To an operator it also says from which
///   address a request comes (``AddressCheck``).
/// - `/readyz` reports readiness: it fails while the process stops, and while the store does not answer or refuses
///   commits.
/// - `/readyz/process` reports the readiness of the process, independent of the store.
/// - `/` redirects to the sign-in page, which leads each user on, and `/.well-known/change-password` to the page that
///   changes the password.
/// - `/.well-known/passkey-endpoints` names the page on which a user adds and deletes passkeys.
struct HealthEndpoints: Sendable {
    let settings: ServerSettings
    let readiness: Readiness
    let pages: LinkedPages
    let addresses: AddressCheck

    var handlers: [EndpointHandler] {
        [
            EndpointHandler(.home) { _, _ in .seeOther(settings.issuer.path + pages.signIn.path) },
            EndpointHandler(.passwordChange) { _, _ in .seeOther(settings.issuer.path + pages.passwordChange.path) },
            EndpointHandler(.passkeyEndpoints) { _, _ in
                guard PasskeyCeremonies(settings.issuer) != nil else { throw NotFoundError() }
                return Reply(.ok, .json(passkeyEndpoints))
            },
            EndpointHandler(.liveness) { request, now in
                let answer = addresses.answer(to: request, issuer: settings.issuer, now: now)
                return Reply(.ok, .json(try answer?.encoded() ?? ReadinessReport.alive))
            },
            EndpointHandler(.readiness) { _, _ in
                Self.reply(await readiness.report())
            },
            EndpointHandler(.processReadiness) { _, _ in
                Self.reply(ReadinessReport(readiness.process, store: nil))
            },
        ]
    }

    private var passkeyEndpoints: [UInt8] {
        let page = settings.issuer.endpoint(pages.passkeys.path)
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("enroll", page)
            writer.member("manage", page)
        }
        return writer.bytes
    }

    private static func reply(_ report: ReadinessReport) -> Reply {
        Reply(report.status, .json(report.json), fields: report.fields)
    }
}
