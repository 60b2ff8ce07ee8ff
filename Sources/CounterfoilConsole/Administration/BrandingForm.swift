import CounterfoilProtocol
import CounterfoilServer
import Foundation
import HTTPTypes

/// The confirmation that the branding page shows after the branding was saved.
enum BrandingNotice: String, LocalizationKey, Notice {
    case saved = "branding.notice.branded"
}

/// `/admin/branding`: the form for the name, logo, color, support URL and statements of the service.
struct BrandingForm: Sendable {
    let console: Console
    let encoder: LogoEncoder

    func show(_ visit: Console.Visit) async throws -> Reply {
        let branding = try await console.registry.branding()
        return page(visit, BrandingDraft(branding), of: branding)
    }

    func change(_ visit: Console.Visit) async throws -> Reply {
        let branding = try await console.registry.branding()
        let form = try PageForm(uploading: visit.request, issuer: console.settings.issuer)
        let (_, delay) = try await console.check(form, of: visit)
        let removesLogo = try form.value("remove_logo") == "on"
        var draft = try BrandingDraft(form)
        var typed = draft
        var logo = LogoChange.keep
        var problems: [BrandingDraft.Problem] = []
        switch try form.value("decision") {
        case "standard":
            try console.requireRecentSignIn(visit)
            typed = BrandingDraft(branding)
            draft = BrandingDraft()
            // The reset applies to the name, logo, color and support URL, but not to the statements of the service.
            draft.statements = typed.statements
            logo = .remove
        case "preview":
            let (previewed, problems) = draft.checked(revision: branding.revision)
            guard problems.isEmpty else {
                return page(visit, draft, of: branding, removesLogo: removesLogo, problems: problems)
            }
            return preview(visit, draft, of: branding, removesLogo: removesLogo, as: previewed)
        case "save":
            if removesLogo { logo = .remove }
            if let upload = try form.file(BrandingDraft.Field.logo.name), !upload.isEmpty {
                do {
                    logo = .replace(try await encoder.logo(from: upload))
                } catch {
                    problems.append(BrandingDraft.Problem(.logo, error))
                }
            }
        default:
            throw PageProblem.noDecision
        }
        if Int(try form.value("revision")) != branding.revision {
            problems.append(BrandingDraft.Problem(nil, .changedMeanwhile))
        } else if let delay {
            problems.append(BrandingDraft.Problem(nil, delay))
        }
        let (changed, mistakes) = draft.checked(revision: branding.revision)
        problems += mistakes
        guard problems.isEmpty else {
            return page(visit, typed, of: branding, removesLogo: removesLogo, problems: problems)
        }
        let event = console.event(.setting, by: visit, detail: changed.difference(from: branding))
        switch try await console.store.updateBranding(changed, logo: logo, recording: [event]) {
        case .updated:
            console.auditor.countRecorded(event)
            return .done(BrandingNotice.saved, at: console.path(.branding))
        case .changedMeanwhile:
            let problem = BrandingDraft.Problem(nil, .changedMeanwhile)
            return page(visit, typed, of: branding, removesLogo: removesLogo, problems: [problem])
        }
    }

    /// Shows the form with the typed branding, without saving it.
    ///
    /// The server does not keep an uploaded logo between two requests, so the preview shows the stored logo.
    private func preview(
        _ visit: Console.Visit, _ draft: BrandingDraft, of branding: Branding, removesLogo: Bool,
        as previewed: Branding
    ) -> Reply {
        var shown = previewed
        shown.logo = removesLogo ? nil : branding.logo
        var reply = page(visit, draft, of: branding, removesLogo: removesLogo, preview: shown)
        let language = visit.request.language
        reply.frame = Frame(
            site: Site(shown, settings: console.settings, language: language), language: language)
        return reply
    }

    private func page(
        _ visit: Console.Visit, _ draft: BrandingDraft, of branding: Branding, removesLogo: Bool = false,
        problems: [BrandingDraft.Problem] = [], preview: Branding? = nil
    ) -> Reply {
        func field(_ field: BrandingDraft.Field, _ value: String = "") -> FormField {
            let said = problems.first { $0.field == field }.map { visit.words($0.text) }
            return FormField(field.name, value, problem: said)
        }
        let action = console.path(.branding)
        let page = BrandingPage(
            console: console.head(visit, in: .administration),
            notice: visit.notice(BrandingNotice.self),
            problems: problems.map { FormProblem(visit.words($0.text), field: $0.field?.name) },
            siteName: field(.siteName, draft.siteName),
            standardName: console.settings.siteName,
            accent: field(.accent, draft.accent),
            supportURI: field(.supportURI, draft.supportURI),
            statements: Language.allCases.map { language in
                BrandingPage.Statement(
                    language: language,
                    text: field(.text(language), draft.statements[language]?.text ?? ""),
                    privacyURI: field(.privacyURI(language), draft.statements[language]?.privacyURI ?? ""),
                    shown: preview?.statements[language]?.text.flatMap { try? ConsentText(markdown: $0).html })
            },
            logo: field(.logo),
            hasLogo: branding.logo != nil,
            removesLogo: removesLogo,
            isPreview: preview != nil,
            paths: AdministrationPaths(console, at: .branding),
            action: action,
            ticket: console.ticket(visit, for: action),
            revision: branding.revision
        )
        return Reply(problems.isEmpty ? .ok : .badRequest, .page(page))
    }
}

extension BrandingDraft {
    fileprivate init(_ form: PageForm) throws {
        self.init()
        siteName = try form.value(Field.siteName.name).trimmingCharacters(in: .whitespacesAndNewlines)
        accent = try form.value("own_colour") == "on" ? try form.value(Field.accent.name) : ""
        supportURI = try form.value(Field.supportURI.name).trimmingCharacters(in: .whitespaces)
        for language in Language.allCases {
            statements[language] = Statement(
                text: try form.value(Field.text(language).name),
                privacyURI: try form.value(Field.privacyURI(language).name))
        }
    }
}
