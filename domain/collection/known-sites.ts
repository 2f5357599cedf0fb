/**
 * Sites that send visitors, by the name that a link to a website would give them in `utm_source`, and the categories by which Google Analytics
 * groups channels; those of providers are in their descriptors. The categories are those of Google's list of sources for the default channel group; sites without one are here for their name.
 */

import type { SiteCategory } from '../providers/descriptor.ts'
import { PROVIDER_DESCRIPTORS } from '../providers/index.ts'

interface KnownSite {
  readonly name: string
  readonly category: SiteCategory
}

/**
 * Each line: category, name, then its hosts and other names. A host stands for those below it, too; one that ends in `.*` for that label under
 * every public suffix of one or two labels.
 */
const SITES = `
search google-news news.google.com
search google-play play.google.com
search bing bing.com
search yahoo yahoo.com yahoo.co.jp
search duckduckgo duckduckgo.com ddg.gg
search ecosia ecosia.org
search startpage startpage.com
search brave search.brave.com
search kagi kagi.com
search qwant qwant.com
search mojeek mojeek.com
search you you.com
search perplexity perplexity.ai
search baidu baidu.com
search sogou sogou.com
search 360 so.com 360.cn
search yandex yandex.* ya.ru
search rambler rambler.ru
search mail.ru go.mail.ru
search naver naver.com
search daum daum.net
search rakuten rakuten.co.jp
search biglobe biglobe.ne.jp biglobe.co.jp
search docomo docomo.ne.jp
search auone auone.jp
search seznam seznam.cz
search centrum centrum.cz
search onet onet.pl
search startsiden startsiden.no
search eniro eniro.se
search ukr ukr.net
search tut tut.by
search aol aol.com aol.co.uk aol.de
search ask ask.com
search msn msn.com
search lycos lycos.com
search excite excite.com
search dogpile dogpile.com
search exalead exalead.com
social instagram instagram.com ig
social threads threads.net threads.com
social messenger messenger.com m.me
social whatsapp whatsapp.com wa.me
social linkedin linkedin.com lnkd.in
social reddit reddit.com redd.it
social hackernews news.ycombinator.com hn hacker-news hacker_news
social bluesky bsky.app bsky.social
social mastodon mastodon.social mastodon.online fosstodon.org hachyderm.io infosec.exchange
social discord discord.com discord.gg discordapp.com
social telegram t.me telegram.org telegram.me web.telegram.org
social slashdot slashdot.org
social stackoverflow stackoverflow.com
social stackexchange stackexchange.com superuser.com serverfault.com askubuntu.com stackapps.com mathoverflow.net
social quora quora.com
social medium medium.com
social wordpress wordpress.com wordpress.org
social blogger blogger.com blogspot.com
social tumblr tumblr.com
social hatena hatena.ne.jp hatenablog.com
social dzone dzone.com
social techmeme techmeme.com
social slideshare slideshare.net
social scribd scribd.com
social meetup meetup.com
social pinterest pinterest.*
social snapchat snapchat.com
social wechat wechat.com weixin.qq.com
social weibo weibo.com weibo.cn
social zhihu zhihu.com
social douban douban.com
social qzone qzone.qq.com
social vk vk.com vkontakte.ru
social odnoklassniki odnoklassniki.ru ok.ru
social line line.me
social kakao kakao.com
social zalo zalo.me
social xing xing.com
social yammer yammer.com
social microsoft-teams teams.microsoft.com statics.teams.cdn.office.net
social skype skype.com
social google-groups groups.google.com googlegroups.com
social google-sites sites.google.com
social deviantart deviantart.com
social flickr flickr.com
social flipboard flipboard.com
social digg digg.com
social pocket getpocket.com pocket.co
social instapaper instapaper.com
social pinboard pinboard.in
social smartnews smartnews.com
social goodreads goodreads.com
social glassdoor glassdoor.com
social tripadvisor tripadvisor.com
social trustpilot trustpilot.com
social yelp yelp.com yelp.co.uk
social researchgate researchgate.net
social academia academia.edu
social livejournal livejournal.com
social hootsuite hootsuite.com
social disqus disqus.com
social bitly bit.ly
social tinyurl tinyurl.com
social fandom fandom.com
social gutefrage gutefrage.net
social wikihow wikihow.com
video youtube youtube.com youtu.be youtube-nocookie.com
video vimeo vimeo.com
video twitch twitch.tv
video dailymotion dailymotion.com
video wistia wistia.com wistia.net
video netflix netflix.com
video hulu hulu.com
video disneyplus disneyplus.com
video ted ted.com
video youku youku.com
video iqiyi iqiyi.com iq.com
video veoh veoh.com
video dtube d.tube
video curiositystream curiositystream.com
video utreon utreon.com
shopping amazon amazon.*
shopping ebay ebay.*
shopping etsy etsy.com
shopping walmart walmart.com
shopping alibaba alibaba.com
shopping aliexpress aliexpress.com
shopping mercadolibre mercadolibre.*
shopping shopify shopify.com shop.app
shopping shopzilla shopzilla.com
shopping temu temu.com
shopping stripe stripe.com
shopping google-shopping shopping.google.com
shopping naver-shopping shopping.naver.com
shopping yahoo-shopping shopping.yahoo.com shopping.yahoo.co.jp
other github github.com github.io githubusercontent.com
other gitlab gitlab.com
other bitbucket bitbucket.org
other codeberg codeberg.org
other sourceforge sourceforge.net
other npm npmjs.com npmjs.org
other pypi pypi.org
other crates.io crates.io lib.rs docs.rs
other go pkg.go.dev go.dev
other rubygems rubygems.org
other packagist packagist.org
other nuget nuget.org
other homebrew brew.sh
other dockerhub hub.docker.com docker.com
other alternativeto alternativeto.net
other producthunt producthunt.com
other lobsters lobste.rs
other devto dev.to
other hashnode hashnode.com hashnode.dev
other substack substack.com
other daily.dev daily.dev
other slack slack.com
other notion notion.so notion.site notion.com
other wikipedia wikipedia.org
other gmail mail.google.com
other outlook outlook.live.com outlook.office.com outlook.office365.com
other yahoo-mail mail.yahoo.com
other proton-mail mail.proton.me
other chatgpt chatgpt.com chat.openai.com openai.com
other claude claude.ai
other gemini gemini.google.com
other copilot copilot.microsoft.com copilot.com
other deepseek deepseek.com
other mistral mistral.ai
other grok grok.com
other phind phind.com
`

type NamedSite = readonly [hostOrName: string, site: KnownSite]

function sitesListed(): readonly NamedSite[] {
  const lines = SITES.trim().split('\n')
  return lines.flatMap((line) => {
    const [category = '', name = '', ...others] = line.split(' ')
    const site = { name, category: categoryOf(category) }
    return [name, ...others].map((key) => [key, site] as const)
  })
}

function sitesOfProviders(): readonly NamedSite[] {
  return Object.values(PROVIDER_DESCRIPTORS).flatMap(({ site }) => {
    if (site === undefined) return []
    const { source, category, names } = site
    return [source, ...names].map((key) => [key, { name: source, category }] as const)
  })
}

const BY_HOST_OR_NAME: ReadonlyMap<string, KnownSite> = new Map([...sitesListed(), ...sitesOfProviders()])

function categoryOf(word: string): SiteCategory {
  if (word === 'search' || word === 'social' || word === 'video' || word === 'shopping') return word
  return 'other'
}

/** By a host or a name, whatever its case; null if it is not listed. */
export function knownSite(hostOrName: string): KnownSite | null {
  const labels = hostOrName.toLowerCase().split('.')
  // The longest host that is listed: what lies below one may be a site of its own.
  for (let first = 0; first < labels.length; first++) {
    const below = labels.slice(first)
    const site = BY_HOST_OR_NAME.get(below.join('.')) ?? underAnySuffix(below)
    // A single label is a name only if it is all there is: com is no site of example.com.
    if (site !== undefined && (below.length > 1 || labels.length === 1)) return site
  }
  return null
}

/** `google.de` and `google.co.uk`, as `google.*`. */
function underAnySuffix([label = '', ...suffix]: readonly string[]): KnownSite | undefined {
  const isSuffix = (suffix.length === 1 || suffix.length === 2) && suffix.every((part) => /^[a-z]{2,3}$/.test(part))
  return isSuffix ? BY_HOST_OR_NAME.get(`${label}.*`) : undefined
}
