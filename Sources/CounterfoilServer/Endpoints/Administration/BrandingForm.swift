import CounterfoilProtocol
import Foundation
import HTTPTypes

/// What has just happened to the look of the pages.
enum BrandingNotice: String, Phrase, Notice {
    case saved = "branding.notice.branded"
}

/// What can be wrong with the look of the pages.
enum BrandingPhrase: String, Phrase {
    case nameLength = "branding.name-length"
    case notAColour = "branding.not-a-colour"
    case notASupportAddress = "branding.not-a-support-address"
    case changedMeanwhile = "branding.changed-meanwhile"
    case pageExpired = "branding.page-expired"
}

/// `/admin/branding`: how the pages look like the owner's own.
struct BrandingForm: Sendable {
    let console: Console
    let encoder: LogoEncoder

    /// What was written, before any rule has been applied to it.
    private struct Draft {
        var siteName = ""
        var accent = ""
        var supportURI = ""
        var removesLogo = false

        init() {}

        /// What a form of ours has sent.
        init(_ form: PageForm) throws {
            siteName = try form.value(Field.siteName.rawValue).trimmingCharacters(in: .whitespacesAndNewlines)
            accent = try form.value("own_colour") == "on" ? try form.value(Field.accent.rawValue) : ""
            supportURI = try form.value(Field.supportURI.rawValue).trimmingCharacters(in: .whitespaces)
            removesLogo = try form.value("remove_logo") == "on"
        }

        init(_ branding: Branding) {
            siteName = branding.siteName ?? ""
            accent = branding.accent?.rawValue ?? ""
            supportURI = branding.supportURI?.rawValue ?? ""
        }
    }

    private enum Field: String {
        case siteName = "site_name"
        case accent
        case supportURI = "support_uri"
        case logo
    }

    func show(_ visit: Console.Visit) async throws -> Reply {
        let branding = try await console.store.branding()
        return page(visit, Draft(branding), of: branding)
    }

    func change(_ visit: Console.Visit) async throws -> Reply {
        let branding = try await console.store.branding()
        let form = try PageForm(uploading: visit.request, issuer: console.settings.issuer)
        let (_, isLate) = try console.checkTicketOrLate(try form.value("ticket"), of: visit)
        var draft = try Draft(form)
        var typed = draft
        var logo = LogoChange.keep
        var problems: [(field: Field?, text: Text)] = []
        switch try form.value("decision") {
        case "standard":
            draft = Draft()
            typed = Draft(branding)
            logo = .remove
        case "preview":
            let previewed = Self.check(draft, revision: branding.revision, &problems)
            guard problems.isEmpty else { return page(visit, draft, of: branding, problems: problems) }
            return preview(visit, draft, of: branding, as: previewed)
        case "save":
            if draft.removesLogo { logo = .remove }
            if let upload = try form.file(Field.logo.rawValue), !upload.isEmpty {
                do { logo = .replace(try await encoder.logo(from: upload)) } catch {
                    problems.append((.logo, error.text))
                }
            }
        default:
            throw PageProblem.noDecision
        }
        if Int(try form.value("revision")) != branding.revision {
            problems.append((nil, Text(BrandingPhrase.changedMeanwhile)))
        } else if isLate {
            problems.append((nil, Text(BrandingPhrase.pageExpired)))
        }
        let changed = Self.check(draft, revision: branding.revision, &problems)
        guard problems.isEmpty else { return page(visit, typed, of: branding, problems: problems) }
        switch try await console.store.updateBranding(changed, logo: logo) {
        case .updated:
            await console.note(.setting, by: visit, detail: "the look of the pages")
            return .done(BrandingNotice.saved, at: console.path(.branding))
        case .changedMeanwhile:
            return page(visit, typed, of: branding, problems: [(nil, Text(BrandingPhrase.changedMeanwhile))])
        }
    }

    private static func check(
        _ draft: Draft, revision: Int, _ problems: inout [(field: Field?, text: Text)]
    ) -> Branding {
        var branding = Branding(revision: revision)
        if !draft.siteName.isEmpty {
            if draft.siteName.count > DisplayName.maximumLength || !DisplayName.isVisible(draft.siteName) {
                problems.append(
                    (
                        .siteName,
                        Text(BrandingPhrase.nameLength, ["limit": .number(DisplayName.maximumLength)])
                    ))
            }
            branding.siteName = draft.siteName
        }
        if !draft.accent.isEmpty {
            branding.accent = AccentColor(draft.accent)
            if branding.accent == nil { problems.append((.accent, Text(BrandingPhrase.notAColour))) }
        }
        if !draft.supportURI.isEmpty {
            if let uri = try? AbsoluteURI(parsing: draft.supportURI), uri.userInformation == nil,
                uri.scheme.lowercased() == "mailto" || (uri.scheme.lowercased() == "https" && uri.host != nil)
            {
                branding.supportURI = uri
            } else {
                problems.append((.supportURI, Text(BrandingPhrase.notASupportAddress)))
            }
        }
        return branding
    }

    /// The form as it would look with what was typed; nothing is saved.
    ///
    /// A picture is not kept from one page to the next, so it is the one that is there.
    private func preview(
        _ visit: Console.Visit, _ draft: Draft, of branding: Branding, as previewed: Branding
    ) -> Reply {
        var shown = previewed
        shown.logo = draft.removesLogo ? nil : branding.logo
        var reply = page(visit, draft, of: branding, isPreview: true)
        reply.frame = Frame(site: Site(shown, settings: console.settings), language: visit.request.language)
        return reply
    }

    private func page(
        _ visit: Console.Visit, _ draft: Draft, of branding: Branding,
        problems: [(field: Field?, text: Text)] = [], isPreview: Bool = false
    ) -> Reply {
        func field(_ field: Field, _ value: String = "") -> FormField {
            let said = problems.first { $0.field == field }.map { visit.words($0.text) }
            return FormField(field.rawValue, value, problem: said)
        }
        let action = console.path(.branding)
        let page = BrandingPage(
            console: console.head(visit, in: .administration),
            notice: visit.notice(BrandingNotice.self),
            problems: problems.map { FormProblem(visit.words($0.text), field: $0.field?.rawValue) },
            siteName: field(.siteName, draft.siteName),
            standardName: console.settings.siteName,
            accent: field(.accent, draft.accent),
            supportURI: field(.supportURI, draft.supportURI),
            logo: field(.logo),
            hasLogo: branding.logo != nil,
            removesLogo: draft.removesLogo,
            isPreview: isPreview,
            paths: AdministrationPaths(console, at: .branding),
            action: action,
            ticket: console.ticket(visit, for: action),
            revision: branding.revision
        )
        return Reply(problems.isEmpty ? .ok : .badRequest, .page(.branding(page)))
    }
}
