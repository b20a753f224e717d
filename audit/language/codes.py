"""Codes of languages: the two letters of ISO 639-1 where a language has them, whatever a tool calls it."""

import re
from functools import cache

_TWO_OF_THREE = """
aar=aa abk=ab adp=dz afr=af aka=ak alb=sq als=sq amh=am ara=ar arb=ar arg=an arm=hy asm=as ava=av ave=ae aym=ay ayr=ay
aze=az azj=az bak=ba bam=bm baq=eu bel=be ben=bn bis=bi bod=bo bos=bs bre=br bul=bg bur=my cat=ca ces=cs cha=ch che=ce
chi=zh chu=cu chv=cv cmn=zh cor=kw cos=co cre=cr cym=cy cze=cs dan=da deu=de div=dv dut=nl dzo=dz ekk=et ell=el eng=en
epo=eo est=et eus=eu ewe=ee fao=fo fas=fa fij=fj fin=fi fra=fr fre=fr fry=fy ful=ff geo=ka ger=de gla=gd gle=ga glg=gl
glv=gv gre=el grn=gn guj=gu hat=ht hau=ha hbs=sh heb=he her=hz hin=hi hmo=ho hrv=hr hun=hu hye=hy ibo=ig ice=is ido=io
iii=ii iku=iu ile=ie ina=ia ind=id ipk=ik isl=is ita=it jav=jv jpn=ja kal=kl kan=kn kas=ks kat=ka kau=kr kaz=kk khk=mn
khm=km kik=ki kin=rw kir=ky kmr=ku kom=kv kon=kg kor=ko kpv=kv kua=kj kur=ku lao=lo lat=la lav=lv lim=li lin=ln lit=lt
ltz=lb lub=lu lug=lg lvs=lv mac=mk mah=mh mal=ml mao=mi mar=mr may=ms mkd=mk mlg=mg mlt=mt mol=ro mon=mn mri=mi msa=ms
mya=my nau=na nav=nv nbl=nr nde=nd ndo=ng nep=ne nld=nl nno=nn nob=nb nor=no npi=ne nya=ny oci=oc oji=oj ori=or orm=om
ory=or oss=os pan=pa per=fa pes=fa pli=pi plt=mg pol=pl por=pt pus=ps que=qu roh=rm ron=ro rum=ro run=rn rus=ru sag=sg
san=sa sin=si slk=sk slo=sk slv=sl sme=se smo=sm sna=sn snd=sd som=so sot=st spa=es sqi=sq srd=sc srp=sr ssw=ss sun=su
swa=sw swe=sv swh=sw tah=ty tam=ta tat=tt tel=te tgk=tg tgl=tl tha=th tib=bo tir=ti ton=to tsn=tn tso=ts tuk=tk tur=tr
twi=ak uig=ug ukr=uk urd=ur uzb=uz uzn=uz ven=ve vie=vi vol=vo wel=cy wln=wa wol=wo xho=xh yid=yi yor=yo zha=za zho=zh
zlm=ms zsm=ms zul=zu
"""
"""ISO 639-3 and 639-2 to 639-1, as the Unicode CLDR has it ("language aliases"); and Serbo-Croatian and Malay."""


@cache
def _table() -> dict[str, str]:
    return dict(re.findall(r"([a-z]{3})=([a-z]{2})", _TWO_OF_THREE))


def two_letters(code: str) -> str:
    """The code of a language in ISO 639-1 where it has one there, else as it was; a region or script is dropped.

    >>> two_letters("eng"), two_letters("ca"), two_letters("pt-BR"), two_letters("ast")
    ('en', 'ca', 'pt', 'ast')
    """
    language = re.split(r"[-_]", code.strip().lower(), maxsplit=1)[0]
    return _table().get(language, language)
